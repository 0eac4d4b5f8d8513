// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/compute"
)

// KeptRoutes says whether tables differ from computed ones only in that a subnet manager
// with the settings kept routes: where things were only lost OpenSM leaves those that are
// still among the shortest, and its tables are then not those that it would compute anew.
type KeptRoutes string

// What can be said of kept routes.
const (
	// NotKept: nothing differs, or something was computed otherwise.
	NotKept KeptRoutes = ""
	// KeptSeen: what was lost since the calibration before gives these very tables.
	KeptSeen KeptRoutes = "seen"
	// KeptPossible: each entry is one that it would have kept, and there are ports
	// without a link that may have had one.
	KeptPossible KeptRoutes = "possible"
)

// Explained reports whether the settings explain the tables: nothing differs, or routes
// were kept. Where nobody saw that, other settings may as well have made them, unless
// these come of the subnet manager's own opensm.conf. They explain no table that was not read.
func (c *Calibration) Explained() bool { return c.Verdict() == verdict.OK }

// Verdict is found where the settings do not explain the tables that were compared, and unknown where they do and
// others were not read.
func (c *Calibration) Verdict() verdict.Verdict {
	explained := c.Agrees() || c.Kept == KeptSeen || c.Kept == KeptPossible && c.Own
	return verdict.Of(!explained, len(c.Unread) > 0)
}

// remembered is what a subnet manager with these settings, in words, remembers of the tables that it made.
type remembered struct {
	past     compute.Past
	settings [2]string
}

// before is what the subnet manager remembered when it made the tables, by the last calibration, nil for none: of the
// same tables the same as then.
func (c *Calibration) before(tables *fabric.Tables) *remembered {
	switch {
	case c == nil:
		return nil
	case c.next != nil && c.of != tables:
		return c.next
	}
	return c.from
}

// keptRoutes finds whether the live tables come of kept routes, and what the subnet manager remembers then.
func (s *Session) keptRoutes(ctx context.Context, st *State, c *Calibration) error {
	live := st.Live.Tables
	defer func() {
		if c.next == nil && c.Explained() {
			c.next = &remembered{compute.Past{Tables: live, Computed: live}, c.settings}
		}
	}()
	if c.Differ == 0 || c.SL2VLDiffer > 0 {
		return nil
	}
	gives := func(keep compute.Keep, past compute.Past) (*compute.Result, error) {
		job := s.Job(st)
		job.Keep, job.Past = keep, past
		made, err := compute.Unicast(ctx, job)
		if err != nil || !made.Figures.Kept && made.Figures.Engine != compute.CachedEngine ||
			diff.Count(live, made.Tables).Changed > 0 {
			return nil, err
		}
		return made, nil
	}
	if c.from != nil && c.from.settings == c.settings {
		past := c.from.past
		past.Tables = persist.Transfer(live.Fabric, past.Tables)
		switch made, err := gives(compute.KeepAsOpenSM, past); {
		case err != nil:
			return err
		case made != nil:
			c.Kept, c.next = KeptSeen, &remembered{made.Past, c.settings}
			return nil
		}
	}
	if !anyUnlinked(live.Fabric) {
		return nil
	}
	made, err := gives(compute.KeepYes, compute.Past{Tables: live})
	if made != nil {
		c.Kept = KeptPossible
	}
	return err
}

// anyUnlinked reports whether a switch of the subnet has a port without a link.
func anyUnlinked(f *fabric.Fabric) bool {
	for _, n := range f.Switches {
		for p := range f.Nodes[n].Ports() {
			if f.Nodes[n].InSubnet && f.Ports[p].Num > 0 && !f.Ports[p].Linked() {
				return true
			}
		}
	}
	return false
}
