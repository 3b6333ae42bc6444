/* Which walls can be held by which hand: the swing of a steady press over stiffness and grip, with
 * the layer that keeps walls passive and without. Argument: the folder to write to. */
#include <math.h>
#include <stdio.h>

#include "server/svg_plot.h"
#include "tests/support/feel_grip.h"

enum { ROWS = 16 };

static void draw(svg_figure *f, const char *title, double friction, int is_layer_off)
{
    double values[ROWS * GRIPS];
    for (int j = 0; j < ROWS; j++) {
        for (int i = 0; i < GRIPS; i++) {
            double worst = 0;
            for (int axis = 0; axis < 2; axis++) {
                grip_case c = grip_case_usual(500.0 * (j + 1));
                c.axis = axis;
                c.tremor = 0;
                c.device_friction = friction;
                c.is_layer_off = is_layer_off;
                worst = fmax(worst, feel_swing(&c, &grips[i]));
            }
            values[j * GRIPS + i] = log10(fmin(fmax(1e6 * worst, 1), 10000));
        }
    }
    svg_panel *p = svg_add_panel(
        f, title, (svg_axis){.label = "grip: light to firm", .low = 0.5, .high = GRIPS + 0.5},
        (svg_axis){.label = "stiffness (N/m)", .low = 250, .high = 8250});
    svg_heat(p, (svg_grid){0.5, GRIPS + 0.5, 250, 8250, GRIPS, ROWS}, values,
             "log10 of the swing (um); 2 is a limit cycle");
    svg_mark_y(p, 2500, "2500 N/m", (svg_style){.is_dashed = true, .color = "#ffffff"});
}

int main(int argc, char **argv)
{
    char path[512];
    snprintf(path, sizeof path, "%s/stiffness-map.svg", argc > 1 ? argv[1] : ".");
    svg_figure *f = svg_create("Swing of a steady press of 3 N, simulated Falcon", 2);
    svg_panel_size(f, 520, 420);
    draw(f, "layer on", -1, 0);
    draw(f, "layer off", -1, 1);
    draw(f, "layer on, device without friction", 0, 0);
    draw(f, "layer off, device without friction", 0, 1);
    hr_error error = {{0}};
    hr_status status = svg_write(f, path, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    return status == HR_OK ? 0 : 1;
}
