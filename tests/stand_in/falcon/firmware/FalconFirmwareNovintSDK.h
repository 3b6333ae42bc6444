#include "../core/FalconDevice.h"
