/* usage: make-firmware FILE [BYTES]: writes a made-up boot table that the emulated Falcon accepts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/emulated/falcon_model.h"

int main(int argc, char **argv)
{
    static uint8_t bytes[65536];
    int size = argc > 2 ? atoi(argv[2]) : 8492;
    FILE *file = argc > 1 && size >= 64 && size <= 65536 ? fopen(argv[1], "wb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: make-firmware FILE [BYTES]\n");
        return 2;
    }
    int count = model_make_firmware(bytes, size, 5);
    fwrite(bytes, 1, (size_t)count, file);
    return fclose(file) == 0 ? 0 : 1;
}
