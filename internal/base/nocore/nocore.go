// SPDX-License-Identifier: Apache-2.0

// Package nocore prevents all users except root from reading the memory of a process that holds a key.
package nocore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Set disables core dumps of this process, whatever RLIMIT_CORE and core_pattern are. Only root can then access the
// memory of the process (/proc/PID/mem, ptrace), not even the user who runs it.
func Set() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep keys out of core dumps: prctl PR_SET_DUMPABLE: %w", err)
	}
	return nil
}
