/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace points of every room, generated from trace-events. */
#include "trace-zdrive.h"
