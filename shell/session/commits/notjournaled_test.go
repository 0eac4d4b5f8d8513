// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"errors"
	"testing"

	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestRollbackWithoutEntry checks that a rollback without a number does not undo an earlier commit, perhaps of somebody
// else, if the last commit of the session has no entry in the journal.
func TestRollbackWithoutEntry(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,4")
	s := n.Console()
	n.Route(s, "updn")
	if _, err := commits.Commit(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
	held := n.Held()
	commits.SetOwn(s, 1, 0)
	_, _, err := commits.Rollback(t.Context(), s, 0, yes)
	if !errors.Is(err, commits.ErrNotJournaled) || n.Held() != held {
		t.Errorf("rollback: %v", err)
	}
	commits.SetOwn(s, 1)
	if _, _, err := commits.Rollback(t.Context(), s, 0, yes); err != nil || n.Held() == held {
		t.Errorf("rollback of the commit in the journal: %v", err)
	}
}
