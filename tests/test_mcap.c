#include "tests/test.h"

#include <glob.h>
#include <string.h>

#include "server/mcap_reader.h"
#include "server/mcap_writer.h"

static const char *output(const char *name)
{
    static char path[512];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/tests/%s", build ? build : "build", name);
    return path;
}

typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

static blob load(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    blob b = {NULL, (size_t)ftell(f)};
    b.data = malloc(b.size + 1);
    rewind(f);
    assert_int_equal(fread(b.data, 1, b.size, f), b.size);
    fclose(f);
    return b;
}

/* What a pass over a file finds. */
typedef struct tally {
    int messages, chunks, damages, records;
    uint64_t sum; /* of the messages' bytes and numbers: tells whether they are the same ones */
    bool is_complete;
} tally;

static tally read_all(const void *data, size_t size)
{
    tally t = {0};
    mcap_reader *r;
    if (mcap_reader_open_memory(data, size, "memory", &r, NULL) != HR_OK)
        return (tally){.damages = 1};
    mcap_item item;
    while ((item = mcap_next(r)).kind != MCAP_ITEM_END) {
        t.records++;
        t.damages += item.kind == MCAP_ITEM_DAMAGE;
        mcap_message m;
        if (item.kind != MCAP_ITEM_RECORD)
            continue;
        t.chunks += item.opcode == MCAP_CHUNK;
        if (item.opcode == MCAP_MESSAGE && mcap_read_message(&item, &m)) {
            t.messages++;
            t.sum = t.sum * 31 + m.sequence + m.log_time + m.channel;
            for (size_t i = 0; i < m.size; i++)
                t.sum = t.sum * 31 + m.data[i];
        }
    }
    t.is_complete = mcap_reader_is_complete(r);
    mcap_reader_close(r);
    return t;
}

/* Three chunks of four messages on two channels, an attachment, a metadata record. */
static blob write_small(const char *name)
{
    mcap_writer *w;
    hr_error error;
    assert_int_equal(mcap_writer_open(output(name), "test", "hapticd", &w, &error), HR_OK);
    uint16_t schema = mcap_add_schema(w, "S", "ros2msg", "uint32 x\n");
    const char *pairs[] = {"key", "value"};
    uint16_t a = mcap_add_channel(w, schema, "/a", "cdr", pairs, 1);
    uint16_t b = mcap_add_channel(w, schema, "/b", "cdr", NULL, 0);
    mcap_add_attachment(w, 5, "note.txt", "text/plain", "hello", 5);
    mcap_add_metadata(w, "run", pairs, 1);
    for (uint32_t i = 0; i < 12; i++) {
        mcap_bytes *bytes = mcap_begin_message(w, i % 3 ? a : b, i, 1000 + i, 1000 + i);
        mcap_put_u32(bytes, 77 * i);
        mcap_end_message(w);
        if (i % 4 == 3)
            mcap_end_chunk(w, true);
    }
    assert_int_equal(mcap_writer_close(w, &error), HR_OK);
    return load(output(name));
}

/* The smallest file with one message, put together by hand from the format's description. The three
 * CRCs come from a second implementation (Python's zlib.crc32) over the bytes they cover. */
static void bytes_are_those_of_the_format(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        0x89, 'M',  'C',  'A',  'P', '0', '\r', '\n',           /* magic */
        0x01, 10,   0,    0,    0,   0,   0,    0,    0,        /* Header, 10 bytes */
        1,    0,    0,    0,    'p', 1,   0,    0,    0,   'l', /* profile, library */
        0x06, 139,  0,    0,    0,   0,   0,    0,    0,        /* Chunk, 40 + 99 bytes */
        9,    0,    0,    0,    0,   0,   0,    0,              /* first message's time */
        9,    0,    0,    0,    0,   0,   0,    0,              /* last message's time */
        99,   0,    0,    0,    0,   0,   0,    0,       /* uncompressed size: 27 + 38 + 34 */
        0xfd, 0x0d, 0x1b, 0x7c,                          /* of the 99 bytes of records */
        0,    0,    0,    0,                             /* compression: none */
        99,   0,    0,    0,    0,   0,   0,    0,       /* stored size */
        0x03, 18,   0,    0,    0,   0,   0,    0,    0, /* Schema, 18 bytes */
        1,    0,    1,    0,    0,   0,   'S',  1,    0,   0,
        0,    'e',  2,    0,    0,   0,   'x',  '\n',           /* id name encoding text */
        0x04, 29,   0,    0,    0,   0,   0,    0,    0,        /* Channel, 29 bytes */
        1,    0,    1,    0,    2,   0,   0,    0,    '/', 't', /* id, schema, topic */
        1,    0,    0,    0,    'c', 10,  0,    0,    0,        /* encoding; 10 bytes of metadata */
        1,    0,    0,    0,    'k', 1,   0,    0,    0,   'v', /* one pair */
        0x05, 25,   0,    0,    0,   0,   0,    0,    0,        /* Message, 22 + 3 bytes */
        1,    0,    7,    0,    0,   0,                         /* channel, sequence */
        9,    0,    0,    0,    0,   0,   0,    0,              /* log time */
        8,    0,    0,    0,    0,   0,   0,    0,              /* publish time */
        0xaa, 0xbb, 0xcc,                                       /* data */
        0x07, 22,   0,    0,    0,   0,   0,    0,    0,        /* MessageIndex */
        1,    0,    16,   0,    0,   0,                         /* channel; 16 bytes: one entry */
        9,    0,    0,    0,    0,   0,   0,    0,              /* time */
        65,   0,    0,    0,    0,   0,   0,    0,              /* offset in the chunk: 27 + 38 */
        0x0f, 4,    0,    0,    0,   0,   0,    0,    0,        /* DataEnd */
        0xc7, 0x42, 0x99, 0x83,                                 /* of every byte before DataEnd */
    };
    mcap_writer *w;
    hr_error error;

    assert_int_equal(mcap_writer_open(output("tiny.mcap"), "p", "l", &w, &error), HR_OK);
    const char *pairs[] = {"k", "v"};
    uint16_t channel =
        mcap_add_channel(w, mcap_add_schema(w, "S", "e", "x\n"), "/t", "c", pairs, 1);
    mcap_put_raw(mcap_begin_message(w, channel, 7, 9, 8), (const uint8_t[]){0xaa, 0xbb, 0xcc}, 3);
    mcap_end_message(w);
    assert_int_equal(mcap_writer_close(w, &error), HR_OK);

    blob file = load(output("tiny.mcap"));
    assert_true(file.size > sizeof expected);
    assert_memory_equal(file.data, expected, sizeof expected);
    /* the last 37 bytes: Footer, start of the summary, start of its offsets, CRC, magic */
    static const uint8_t tail[] = {0x02, 20, 0, 0, 0, 0, 0, 0, 0};
    const uint8_t *footer = file.data + file.size - 37;
    assert_memory_equal(footer, tail, sizeof tail);
    assert_int_equal(footer[9] + 256 * footer[10], sizeof expected);
    static const uint8_t summary_crc[] = {0x62, 0xbf, 0x6c, 0x8d};
    assert_memory_equal(footer + 25, summary_crc, 4);
    assert_memory_equal(footer + 29, expected, 8);
    free(file.data);
}

static void files_of_other_writers_are_read(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/mcap/*.mcap", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 7);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        blob file = load(files.gl_pathv[i]);

        tally t = read_all(file.data, file.size);

        if (t.damages || !t.is_complete)
            print_error("%s\n", name);
        assert_int_equal(t.damages, 0);
        assert_true(t.is_complete);
        int expected = strncmp(name, "hundred", 7) == 0 ? 100
                       : strncmp(name, "ten", 3) == 0   ? 10
                       : strncmp(name, "one", 3) == 0   ? 1
                                                        : 0;
        assert_int_equal(t.messages, expected);
        free(file.data);
    }
    globfree(&files);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    blob file = write_small("small.mcap");
    mcap_reader *r;
    hr_error error;
    assert_int_equal(mcap_reader_open(output("small.mcap"), &r, &error), HR_OK);
    uint32_t next = 0;
    int attachments = 0, indices = 0;
    mcap_item item;
    while ((item = mcap_next(r)).kind == MCAP_ITEM_RECORD) {
        mcap_message m;
        mcap_attachment a;
        indices += item.opcode == MCAP_CHUNK_INDEX;
        if (item.opcode == MCAP_ATTACHMENT) {
            assert_true(mcap_read_attachment(&item, &a));
            assert_true(mcap_text_is(a.name, "note.txt"));
            assert_memory_equal(a.data, "hello", 5);
            attachments++;
        }
        if (item.opcode != MCAP_MESSAGE)
            continue;
        assert_true(mcap_read_message(&item, &m));
        assert_int_equal(m.sequence, next);
        assert_int_equal(m.log_time, 1000 + next);
        mcap_cursor c = {m.data, m.size, false};
        assert_int_equal(mcap_get_u32(&c), 77 * next);
        next++;
    }
    assert_int_equal(item.kind, MCAP_ITEM_END);
    assert_true(mcap_reader_is_complete(r));
    assert_int_equal(next, 12);
    assert_int_equal(attachments, 1);
    assert_int_equal(indices, 3);
    mcap_reader_close(r);
    free(file.data);
}

/* Chunk CRC, attachment CRC, data section CRC, summary CRC and the two magics leave no bit out. */
static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    blob file = write_small("flip.mcap");
    tally good = read_all(file.data, file.size);
    assert_int_equal(good.damages, 0);
    size_t step = test_effort(100) < 100 ? 13 : 1;
    for (size_t bit = 0; bit < 8 * file.size; bit += step) {
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);

        tally t = read_all(file.data, file.size);

        if (t.damages == 0 || t.is_complete)
            print_error("bit %zu of byte %zu\n", bit % 8, bit / 8);
        assert_true(t.damages > 0);
        assert_false(t.is_complete);
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(file.data);
}

static void a_cut_file_gives_every_whole_chunk(void **state)
{
    (void)state;
    blob file = write_small("cut.mcap");
    mcap_reader *r;
    assert_int_equal(mcap_reader_open_memory(file.data, file.size, "cut", &r, NULL), HR_OK);
    uint64_t ends[3];
    int chunks = 0;
    mcap_item item;
    while ((item = mcap_next(r)).kind != MCAP_ITEM_END)
        if (item.opcode == MCAP_CHUNK)
            ends[chunks++] = item.offset + MCAP_RECORD_HEAD + item.size;
    mcap_reader_close(r);
    assert_int_equal(chunks, 3);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *part = malloc(size + 1); /* its own memory, so that ASan sees a step too far */
        memcpy(part, file.data, size);

        tally t = read_all(part, size);

        int whole = (size >= ends[0]) + (size >= ends[1]) + (size >= ends[2]);
        assert_int_equal(t.messages, 4 * whole);
        assert_false(t.is_complete);
        free(part);
    }
    free(file.data);
}

/* A wrong length leads the reader astray; it finds the next chunk again. */
static void a_lost_structure_is_found_again(void **state)
{
    (void)state;
    blob file = write_small("lost.mcap");
    mcap_reader *r;
    assert_int_equal(mcap_reader_open_memory(file.data, file.size, "lost", &r, NULL), HR_OK);
    mcap_item item;
    do
        item = mcap_next(r);
    while (item.opcode != MCAP_CHUNK);
    uint64_t chunk = item.offset;
    do
        item = mcap_next(r);
    while (item.opcode != MCAP_MESSAGE_INDEX);
    uint64_t index = item.offset;
    mcap_reader_close(r);

    file.data[chunk + 2] ^= 0x40; /* the chunk now claims 16 KiB more */
    tally t = read_all(file.data, file.size);
    assert_int_equal(t.messages, 8);
    assert_true(t.damages > 0);
    file.data[chunk + 2] ^= 0x40;

    file.data[index + 1] += 100; /* the index now reaches into the next chunk */
    t = read_all(file.data, file.size);
    assert_int_equal(t.messages, 12);
    assert_true(t.damages > 0);
    free(file.data);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    mcap_writer *w;
    hr_error error = {""};
    assert_int_equal(mcap_writer_open("/dev/full", "", "", &w, &error), HR_OK);
    assert_true(mcap_writer_failed(w));
    uint16_t channel = mcap_add_channel(w, 0, "/t", "json", NULL, 0);
    for (int i = 0; i < 100; i++) {
        mcap_put_u32(mcap_begin_message(w, channel, 0, 0, 0), 1);
        mcap_end_message(w);
        mcap_end_chunk(w, true);
    }

    assert_int_equal(mcap_writer_close(w, &error), HR_ERR_IO);

    assert_non_null(strstr(error.text, "No space left"));
    assert_int_equal(mcap_writer_open("/nowhere/x.mcap", "", "", &w, &error), HR_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_format),
        cmocka_unit_test(files_of_other_writers_are_read),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(a_cut_file_gives_every_whole_chunk),
        cmocka_unit_test(a_lost_structure_is_found_again),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
