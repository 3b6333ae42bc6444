/* `haptic latency`; declared here because server/command.h and the servo's headers do not go
 * together in one file. */
#ifndef SERVER_CMD_LATENCY_H
#define SERVER_CMD_LATENCY_H

int cmd_latency(int argc, char **argv);

#endif
