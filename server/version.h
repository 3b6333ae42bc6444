/* The version that people see and that every recording carries. */
#ifndef SERVER_VERSION_H
#define SERVER_VERSION_H

#define HR_VERSION "0.1.0"

#endif
