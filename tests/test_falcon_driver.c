/* threads: the Falcon's driver with its I/O thread, on the live emulated device. */
#include "tests/test.h"

#include <string.h>
#include <time.h>

#include "devices/falcon.h"
#include "devices/falcon/mailbox.h"
#include "tests/emulated/model_transport.h"

static char firmware_path[] = "/tmp/hapticd-test-XXXXXX";

static int make_firmware(void **state)
{
    (void)state;
    static uint8_t bytes[512];
    int size = model_make_firmware(bytes, sizeof bytes, 5);
    int fd = mkstemp(firmware_path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file)
        return -1;
    fwrite(bytes, 1, (size_t)size, file);
    return fclose(file);
}

static int remove_firmware(void **state)
{
    (void)state;
    return remove(firmware_path);
}

static int64_t tick(void)
{
    struct timespec pause = {0, 1000000};
    struct timespec now;
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static device *open_emulated(const model_faults *faults)
{
    device_setting items[] = {{"firmware", firmware_path, "test:1"}};
    device_settings settings = {items, 1};
    falcon_transport *transport = model_transport_live(faults, NULL, 3);
    device *dev = NULL;
    hr_error error = {""};
    hr_status status = falcon_open_transport(transport, &settings, &dev, &error);
    if (status != HR_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, HR_OK);
    return dev;
}

/* True when homed before about ten seconds were over. */
static bool read_until_homed(device *dev, device_sample *sample)
{
    for (int n = 0; n < 10000; n++) {
        hr_status status = device_falcon.read(dev, tick(), sample);
        if (status == HR_OK && sample->flags & DEVICE_IS_HOMED)
            return true;
    }
    return false;
}

/* A server enables before it reads for the first time. */
static void enabled_before_the_first_read_stays_enabled(void **state)
{
    (void)state;
    device *dev = open_emulated(&(model_faults){0});
    device_sample sample = {0};
    assert_int_equal(device_falcon.enable(dev, true), HR_OK);
    assert_true(read_until_homed(dev, &sample));
    assert_true(sample.flags & DEVICE_IS_ENABLED);
    device_command c = {.force = {1, 0, 0}};
    assert_int_equal(device_falcon.write(dev, tick(), &c), HR_OK);
    device_falcon.close(dev);
}

static void it_homes_pushes_and_closes_with_zero(void **state)
{
    (void)state;
    device *dev = open_emulated(&(model_faults){.has_stale_bytes = true});
    device_sample sample = {0};
    assert_true(read_until_homed(dev, &sample));
    device_command c = {.force = {1, 0, 0}};
    assert_int_equal(device_falcon.write(dev, tick(), &c), HR_ERR_DISABLED);
    assert_int_equal(device_falcon.enable(dev, true), HR_OK);
    for (int n = 0; n < 100; n++) {
        int64_t now = tick();
        assert_int_equal(device_falcon.read(dev, now, &sample), HR_OK);
        c.deadline_ns = now + 20000000;
        assert_int_equal(device_falcon.write(dev, now, &c), HR_OK);
    }
    assert_true(sample.flags & DEVICE_IS_ENABLED);
    assert_true(sample.valid & DEVICE_HAS_POSITION);
    falcon_status status;
    falcon_get_status(dev, &status);
    assert_int_equal(status.state, FALCON_RUNNING);
    assert_true(status.counts.reports > 0);
    device_falcon.close(dev);
}

/* Lost in contact: the read says so, writes are refused; then it comes back by itself, with forces
 * off until enabled. */
static void pulled_out_and_plugged_in_it_recovers(void **state)
{
    (void)state;
    device *dev = open_emulated(
        &(model_faults){.unplug_every = 2.5, .unplug_for = 0.3, .loses_firmware = true});
    device_sample sample = {0};
    int recovered = 0;
    for (int round = 0; round < 3; round++) {
        assert_true(read_until_homed(dev, &sample));
        recovered++;
        assert_false(sample.flags & DEVICE_IS_ENABLED);
        assert_int_equal(device_falcon.enable(dev, true), HR_OK);
        hr_status status = HR_OK;
        device_command c = {.force = {0.5, 0, 0}};
        for (int n = 0; n < 20000 && status == HR_OK; n++) {
            int64_t now = tick();
            status = device_falcon.read(dev, now, &sample);
            hr_status written = device_falcon.write(dev, now, &c);
            if (status != HR_OK) {
                assert_int_equal(status, HR_ERR_LOST);
                assert_int_equal(written, HR_ERR_LOST);
            }
        }
        assert_int_equal(status, HR_ERR_LOST);
        assert_true(strlen(device_falcon.last_error(dev)) > 0);
    }
    assert_int_equal(recovered, 3);
    device_falcon.close(dev);
}

static void a_unit_without_power_is_refused_with_the_reason(void **state)
{
    (void)state;
    device_setting items[] = {{"firmware", firmware_path, "test:1"},
                              {"attempts", "1", "test:2"},
                              {"greetings", "2", "test:3"}};
    device_settings settings = {items, 3};
    falcon_transport *transport =
        model_transport_live(&(model_faults){.is_unpowered = true}, NULL, 3);
    device *dev = NULL;
    hr_error error = {""};
    assert_int_equal(falcon_open_transport(transport, &settings, &dev, &error), HR_ERR_NOT_FOUND);
    assert_non_null(strstr(error.text, "wall supply"));
    assert_null(dev);
}

static void wrong_settings_are_refused_before_anything_is_opened(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"colour", "1"},       {"block_size", "0"},      {"firmware", "/no/such/file"},
        {"io_priority", "99"}, {"event_character", "x"}, {"silence_timeout_s", "nan"}};
    for (int i = 0; i < HR_COUNT(wrong); i++) {
        device_setting item = {wrong[i][0], wrong[i][1], "my.conf:4"};
        device_settings settings = {&item, 1};
        device *dev = NULL;
        hr_error error = {""};
        falcon_transport *transport = model_transport_live(&(model_faults){0}, NULL, 1);
        assert_int_not_equal(falcon_open_transport(transport, &settings, &dev, &error), HR_OK);
        assert_non_null(strstr(error.text, i == 2 ? "/no/such/file" : "my.conf:4"));
    }
}

/* The writer's newest message is seen at last, and nothing is ever torn. */
static void a_mailbox_hands_over_the_newest(void **state)
{
    (void)state;
    mailbox box;
    int slots[3] = {0, 0, 0};
    mailbox_init(&box);
    assert_false(mailbox_take(&box));
    for (int n = 1; n < 100; n++) {
        slots[box.back] = n;
        mailbox_publish(&box);
        if (n % 3 == 0) {
            assert_true(mailbox_take(&box));
            assert_int_equal(slots[box.front], n);
            assert_false(mailbox_take(&box));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enabled_before_the_first_read_stays_enabled),
        cmocka_unit_test(it_homes_pushes_and_closes_with_zero),
        cmocka_unit_test(pulled_out_and_plugged_in_it_recovers),
        cmocka_unit_test(a_unit_without_power_is_refused_with_the_reason),
        cmocka_unit_test(wrong_settings_are_refused_before_anything_is_opened),
        cmocka_unit_test(a_mailbox_hands_over_the_newest),
    };
    return cmocka_run_group_tests(tests, make_firmware, remove_firmware);
}
