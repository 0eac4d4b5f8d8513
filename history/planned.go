// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// settled is the time after a commit took a link down within which sweeps may still have found the link up.
const settled = 5 * time.Minute

// TookDown returns the commit that took a link down, nil if no commit did. The link was last found up at wasUp, zero if
// unknown, and found down at the time in the argument down. The last commit up to then that disabled, enabled or reset
// a port of the link counts. The journal has the newest commit first.
func TookDown(journal []JournalEntry, a, b fabric.End, wasUp, down time.Time) *JournalEntry {
	for i := range journal {
		j := &journal[i]
		if j.Outcome == NothingWritten || j.Began.After(down) {
			continue
		}
		controlled := false
		for k := range j.Controls {
			c := &j.Controls[k]
			isEnd := func(e fabric.End) bool { return e.GUID == c.GUID && e.Port == int(c.Num) }
			if !isEnd(a) && !isEnd(b) || c.Phys == 0 {
				continue
			}
			if c.TakesDown() {
				return prose.When(wasUp.Before(j.Began.Add(settled)), j, nil)
			}
			controlled = true
		}
		if controlled {
			return nil
		}
	}
	return nil
}

// Action returns what the commit did, such as "drain link leaf-01/36", "rollback of port disable leaf-01/36" or
// "commit". The argument journal has the other commits of the subnet. The text is escaped.
func (j *JournalEntry) Action(journal []JournalEntry) string {
	completed := func() string {
		i := slices.IndexFunc(journal, func(x JournalEntry) bool { return x.ID == j.Completes && x.ID < j.ID })
		if i < 0 {
			return "commit"
		}
		return journal[i].Action(journal)
	}
	switch j.Note {
	case "":
		return "commit"
	case RollbackNote:
		if what := completed(); what != "commit" {
			return "rollback of " + what
		}
		return "rollback"
	case ResumedNote, ResumedRollbackNote:
		return completed() + " (resumed)"
	}
	return fabric.Escape(strings.ReplaceAll(j.Note, ", ports", " (ports)"))
}
