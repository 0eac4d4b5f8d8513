// SPDX-License-Identifier: Apache-2.0

// Package nocore keeps a process that holds a key from being read by others than root.
package nocore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Set has the kernel write no core dump of this process from now on, whatever RLIMIT_CORE and core_pattern say, and
// give its memory (/proc/PID/mem, ptrace) to nobody but root, not even to the user who runs it.
func Set() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep keys out of core dumps: prctl PR_SET_DUMPABLE: %w", err)
	}
	return nil
}
