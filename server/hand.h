/* One hand: everything that turns a device sample into a force, as a pure function of state and
 * input. The live servo, the lockstep run and the replay all call exactly this.
 *
 *   sample -> tool in the scene -> proxy on the frame's bodies -> coupling, friction -> SAFETY ->
 * force
 */
#ifndef SERVER_HAND_H
#define SERVER_HAND_H

#include "config/config.h"
#include "devices/device.h"
#include "server/frame.h"
#include "server/records.h"

typedef struct hand hand; /* plain memory without pointers to outside but the table of shapes */

/* shapes stays valid and unchanged as long as the hand. NULL when out of memory. */
hand *hand_create(const config *settings, int index, const device_description *device,
                  const shape *shapes, int shape_count);
void hand_destroy(hand *h); /* accepts NULL */

/* The order within a tick: commands, then the newest frame if one arrived, then the tick. */
HR_RT void hand_command(hand *h, const servo_command *command);
HR_RT void hand_frame(hand *h, const contact_frame *frame);

/* The input half of *record is filled; fills the result half. record->force is what goes to the
 * device, whatever happened. */
HR_RT void hand_tick(hand *h, tick_record *record);

/* What the world needs to know of the tick just done. */
HR_RT void hand_tool(const hand *h, const tick_record *record, tool_sample *out);

/* What the hand feels, for people and tests: valid until the next call on the hand. */
const struct proxy *hand_proxy(const hand *h);

#endif
