#include "server/command.h"

#include <stddef.h>

const command command_table[] = {
    {NULL, NULL, NULL},
};
