/* Everything on device 0, as a program with the line protocol: cc -o one_device one_device.c
 *
 * It counts the nodes and leaves the rest of the file alone: every node has one "signature".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: one_device INSTANCE SECONDS SEED\n");
        return 1;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    if (!text || fread(text, 1, size, file) != (size_t)size)
        return 1;
    const char *key = "\"signature\":";
    printf("{\"device\":[");
    int nodes = 0;
    for (char *at = strstr(text, key); at; at = strstr(at + 1, key))
        printf(nodes++ ? ",0" : "0");
    printf("]}\n");
    return 0;
}
