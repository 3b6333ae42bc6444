/* `hapticd`: the server. */
#include <stdio.h>

#include "server/version.h"

int main(void)
{
    printf("hapticd %s\n", HR_VERSION);
    return 0;
}
