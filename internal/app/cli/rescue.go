// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
)

// rescueLimit is the longest time for saving a session after an internal error, which may have left a lock held.
const rescueLimit = time.Minute

// rescued saves the sessions to files in a directory after an internal error. It returns lines that name the files and
// the commands to restore the sessions.
func rescued(s *shell.Subnets, dir string) (lines []string) {
	if dir == "" {
		dir = os.TempDir()
	}
	_ = os.MkdirAll(dir, 0o700)
	prefix := filepath.Join(dir, fmt.Sprintf("rescued-%s-%d", time.Now().Format("20060102-150405"), os.Getpid()))
	for i, n := range s.All() {
		own := prefix + prose.When(len(s.All()) > 1, fmt.Sprintf("-%d", i+1), "")
		saved := make(chan []string, 1)
		go func() { saved <- rescue(n, own, len(s.All()) > 1) }()
		select {
		case more := <-saved:
			lines = append(lines, more...)
		case <-time.After(rescueLimit):
			lines = append(lines, fmt.Sprintf("the session %s was not saved: it took longer than %v", n.Name(),
				rescueLimit))
		}
	}
	return lines
}

// rescue saves one session to files whose names begin with prefix. If the argument several is set, there are other
// sessions, and the command to restore this one names the subnet.
func rescue(n *shell.Subnet, prefix string, several bool) (lines []string) {
	defer func() {
		if v := recover(); v != nil {
			lines = append(lines, fmt.Sprintf("the session was not saved: internal error: %v\n%s", v, debug.Stack()))
		}
	}()
	on := prose.When(several, "on "+lang.Quote(n.Name())+" ", "")
	r, err := n.Rescue(prefix)
	if r.Tables != "" {
		lines = append(lines, "the staged tables were saved to "+r.Tables)
	}
	if r.Commands != "" {
		lines = append(lines, "the settings and the what-if were saved as commands to "+r.Commands,
			fmt.Sprintf("hint: in a new session of %s, '%srun %s' recreates them%s", fabric.Escape(r.Source), on,
				lang.Quote(r.Commands),
				prose.When(r.Tables == "", "",
					fmt.Sprintf(" and stages the tables ('%sload routing %s' only stages the tables)", on,
						lang.Quote(r.Tables)))))
	}
	if err != nil {
		lines = append(lines, "save the session: "+err.Error())
	}
	if len(lines) == 0 {
		lines = []string{
			"the session of " + fabric.Escape(r.Source) + " had no what-if, no staged tables and no settings to save",
		}
	}
	return lines
}

// print prints lines to standard error.
func (o *options) print(lines []string) {
	for _, l := range lines {
		_, _ = fmt.Fprintf(o.err, "ibconsole: %s\n", l)
	}
}
