/* Numbers found by 64-bit keys: an open table that its owner fills anew whenever the numbers
 * change. Size is a power of two, at least twice what is put in. */
#ifndef SOLVER_KEY_TABLE_H
#define SOLVER_KEY_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct key_table {
    uint32_t mask;
    uint64_t *key; /* 0: free */
    int *number;
} key_table;

/* False: out of memory. Release with key_table_free in either case. */
static inline bool key_table_create(key_table *t, int room)
{
    uint32_t size = 4;
    while (size < 2 * (uint32_t)room)
        size *= 2;
    *t = (key_table){size - 1, calloc(size, sizeof *t->key), calloc(size, sizeof *t->number)};
    return t->key && t->number;
}

static inline void key_table_free(key_table *t)
{
    free(t->key);
    free(t->number);
}

static inline void key_table_clear(key_table *t)
{
    memset(t->key, 0, ((size_t)t->mask + 1) * sizeof *t->key);
}

/* Where the key is or would go. */
static inline uint32_t key_table_place(const key_table *t, uint64_t key)
{
    uint32_t at = (uint32_t)(((key ^ (key >> 31)) * 0x9e3779b97f4a7c15ULL) >> 32) & t->mask;
    while (t->key[at] != 0 && t->key[at] != key)
        at = (at + 1) & t->mask;
    return at;
}

/* The first number put in under a key stays. Key 0 is nobody's. */
static inline void key_table_put(key_table *t, uint64_t key, int number)
{
    uint32_t at = key_table_place(t, key);
    if (key == 0 || t->key[at] == key)
        return;
    t->key[at] = key;
    t->number[at] = number;
}

/* -1: not there. */
static inline int key_table_find(const key_table *t, uint64_t key)
{
    uint32_t at = key_table_place(t, key);
    return key != 0 && t->key[at] == key ? t->number[at] : -1;
}

#endif
