#include "tests/test.h"

#include <string.h>

#include "devices/falcon/firmware.h"
#include "devices/falcon/host.h"
#include "devices/falcon/protocol.h"
#include "tests/emulated/falcon_model.h"

static void the_neutral_packet_is_the_published_one(void **state)
{
    (void)state;
    int16_t zero[3] = {0, 0, 0};
    uint8_t packet[FALCON_PACKET];
    falcon_encode_command(zero, 0, packet);
    assert_memory_equal(packet, "<AAAAAAAAAAAAAA>", 16);
    /* -1447 = 0xFA59: nibbles 9, 5, A, F, least significant first */
    int16_t values[3] = {-1447, 1, 4095};
    falcon_encode_command(values, FALCON_HOMING | FALCON_LED_RED, packet);
    assert_memory_equal(packet, "<JFKPBAAAPPPAJA>", 16);
}

static void values_beyond_the_motors_are_cut_not_wrapped(void **state)
{
    (void)state;
    int16_t values[3] = {32767, -32768, 4096};
    int16_t back[3];
    uint8_t flags;
    uint8_t packet[FALCON_PACKET];
    falcon_encode_command(values, 0, packet);
    assert_true(falcon_decode_command(packet, back, &flags));
    assert_int_equal(back[0], 4095);
    assert_int_equal(back[1], -4095);
    assert_int_equal(back[2], 4095);
}

static void every_report_comes_back_from_a_stream_cut_anywhere(void **state)
{
    (void)state;
    test_random r = test_random_seed(31);
    falcon_parser parser = {0};
    int found = 0;
    for (int n = 0; n < 20000; n++) {
        falcon_report sent = {.buttons = (uint8_t)test_random_index(&r, 16),
                              .homed = (uint8_t)test_random_index(&r, 8)};
        for (int i = 0; i < 3; i++)
            sent.counts[i] = (int16_t)(test_random_index(&r, 65536) - 32768);
        uint8_t bytes[FALCON_PACKET];
        falcon_encode_report(&sent, bytes);
        falcon_report got;
        for (int i = 0; i < FALCON_PACKET; i++)
            if (falcon_parser_add(&parser, bytes[i], &got)) {
                assert_int_equal(i, 15);
                assert_memory_equal(&got, &sent, sizeof got);
                found++;
            }
    }
    assert_int_equal(found, 20000);
    assert_int_equal(parser.garbage, 0);
}

/* A report that lacks bytes is thrown away whole; the next one is found. */
static void runts_and_garbage_give_no_report(void **state)
{
    (void)state;
    static const char stream[] = "AB<AAAAAAAAAAAA>"      /* 14 bytes: a runt */
                                 "<AAAAAAAAAAAAAA>"      /* good */
                                 "<AAAA<BAAAAAAAAAAAAA>" /* a second start inside */
                                 "<AAAAAAAAZAAAAA>"      /* a letter out of range */
                                 "<CAAAAAAAAAAAqA>";     /* flags may be anything */
    falcon_parser parser = {0};
    falcon_report report;
    int found = 0;
    int counts[4] = {0};
    for (size_t i = 0; i < sizeof stream - 1; i++)
        if (falcon_parser_add(&parser, (uint8_t)stream[i], &report))
            counts[found++] = report.counts[0];
    assert_int_equal(found, 3);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 2);
    assert_int_equal(report.buttons, ('q' - 'A') & 15);
    assert_int_equal(report.homed, ('q' - 'A') >> 4 & 7);
    assert_true(parser.garbage > 0);
}

static void status_bytes_go_from_every_packet(void **state)
{
    (void)state;
    uint8_t in[130];
    uint8_t out[130];
    for (int i = 0; i < 130; i++)
        in[i] = (uint8_t)i;
    assert_int_equal(ftdi_strip(in, 130, out), 124);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[61], 63);
    assert_int_equal(out[62], 66);
    assert_int_equal(ftdi_strip(in, 2, out), 0);
    assert_int_equal(ftdi_strip(in, 1, out), 0);
}

static void a_flickering_button_is_not_pressed(void **state)
{
    (void)state;
    falcon_debounce d = {.hold = 5};
    for (int i = 0; i < 20; i++)
        assert_int_equal(falcon_debounce_add(&d, i % 3 == 0), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(falcon_debounce_add(&d, 4), 0);
    assert_int_equal(falcon_debounce_add(&d, 4), 4);
}

/* Digest of "abc" from FIPS 180-4; of 119 bytes 'a' (two padding blocks) from sha256sum. */
static void digests_are_those_of_the_standard(void **state)
{
    (void)state;
    char digest[65];
    uint8_t many[119];
    falcon_sha256((const uint8_t *)"abc", 3, digest);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    memset(many, 'a', sizeof many);
    falcon_sha256(many, sizeof many, digest);
    assert_string_equal(digest, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

static void a_firmware_file_is_checked_to_its_last_byte(void **state)
{
    (void)state;
    static falcon_firmware firmware;
    uint8_t bytes[1000];
    hr_error error = {""};
    size_t size = (size_t)model_make_firmware(bytes, sizeof bytes, 9);
    assert_int_equal(falcon_firmware_check(bytes, size, "f.bin", &firmware, &error), HR_OK);
    assert_int_equal(firmware.entry, 0x3f8002);
    assert_null(firmware.known);

    assert_int_equal(falcon_firmware_check(bytes, size - 2, "f.bin", &firmware, &error),
                     HR_ERR_FORMAT);
    assert_non_null(strstr(error.text, "expected the zero that ends a boot table"));
    assert_int_equal(falcon_firmware_check(bytes, size - 1, "f.bin", &firmware, &error),
                     HR_ERR_FORMAT);
    assert_int_equal(falcon_firmware_check(bytes, 10, "f.bin", &firmware, &error), HR_ERR_FORMAT);
    for (size_t i = 0; i < 18; i++) {
        bytes[i] ^= 1;
        assert_int_equal(falcon_firmware_check(bytes, size, "f.bin", &firmware, &error),
                         HR_ERR_FORMAT);
        bytes[i] ^= 1;
    }
    bytes[22] ^= 1; /* the first block's length */
    assert_int_equal(falcon_firmware_check(bytes, size, "f.bin", &firmware, &error), HR_ERR_FORMAT);
}

static void a_calibration_survives_its_file(void **state)
{
    (void)state;
    falcon_calibration c = {{9000, 10000.5, 12345}, {0.01, -0.02, 0}, 0.121, 0.15};
    falcon_calibration back;
    hr_error error = {""};
    char text[512];
    falcon_calibration_print(&c, "A1", text, sizeof text);
    assert_int_equal(falcon_calibration_parse(text, strlen(text), "c", &back, &error), HR_OK);
    assert_memory_equal(&c, &back, sizeof c);
    static const char *const wrong[][2] = {
        {"colour = 3",
         "c:1: expected motor_units_per_newton_metre, angle_offset_rad, centre_z_m or "
         "arm_depth_m, found \"colour\""},
        {"\ncentre_z_m = high", "c:2: centre_z_m: expected 1 number(s) from 0.05 to 0.2, found "
                                "\" high\""},
        {"centre_z_m 1", "c:1: expected \"key = value\", found \"centre_z_m 1\""},
        {"arm_depth_m = 0.1 2", "c:1: arm_depth_m: expected the end of the line, found \" 2\""},
    };
    for (int i = 0; i < HR_COUNT(wrong); i++) {
        assert_int_equal(
            falcon_calibration_parse(wrong[i][0], strlen(wrong[i][0]), "c", &back, &error),
            HR_ERR_FORMAT);
        assert_string_equal(error.text, wrong[i][1]);
    }
    assert_memory_equal(&c, &back, sizeof c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_neutral_packet_is_the_published_one),
        cmocka_unit_test(values_beyond_the_motors_are_cut_not_wrapped),
        cmocka_unit_test(every_report_comes_back_from_a_stream_cut_anywhere),
        cmocka_unit_test(runts_and_garbage_give_no_report),
        cmocka_unit_test(status_bytes_go_from_every_packet),
        cmocka_unit_test(a_flickering_button_is_not_pressed),
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(a_firmware_file_is_checked_to_its_last_byte),
        cmocka_unit_test(a_calibration_survives_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
