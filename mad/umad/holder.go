// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// holder names the process that has a device open, "" where none can be seen: an ordinary user sees the
// user's own alone. It reads /proc, O(open files of the machine).
func holder(root, device string) string {
	dir := filepath.Join(root, processes)
	pids, _ := entries(dir) // without /proc nothing is seen
	for _, pid := range pids {
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		fds, _ := entries(filepath.Join(dir, pid, "fd")) // not ours to see
		for _, fd := range fds {
			if to, err := os.Readlink(filepath.Join(dir, pid, "fd", fd)); err == nil &&
				to == filepath.Join(devices, device) {
				name, _ := os.ReadFile(filepath.Join(dir, pid, "comm")) // gone meanwhile
				return fmt.Sprintf("%s (process %s)", trim(name), pid)
			}
		}
	}
	return ""
}
