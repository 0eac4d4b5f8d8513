// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric"
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
// these come of the subnet manager's own opensm.conf.
func (c *Calibration) Explained() bool {
	return c.Agrees() || c.Kept == KeptSeen || c.Kept == KeptPossible && c.own
}

// keptRoutes says whether the live tables come of kept routes. before is the calibration
// before this one, nil for none.
func (s *Session) keptRoutes(ctx context.Context, st *State, before, c *Calibration) (KeptRoutes, error) {
	if c.Differ == 0 || c.SL2VLDiffer > 0 {
		return NotKept, nil
	}
	live := st.Live.Tables
	gives := func(keep compute.Keep, past compute.Past) (bool, error) {
		job := s.job(st)
		job.Keep, job.Past = keep, past
		made, err := compute.Unicast(ctx, job)
		if err != nil {
			return false, err
		}
		return (made.Figures.Kept || made.Figures.Engine == compute.CachedEngine) && diff.Count(live, made.Tables).Changed == 0, nil
	}
	if before != nil && before.Explained() && before.settings == c.settings && before.of != live {
		past := compute.Past{Tables: persist.Lay(live.Fabric, before.of), Computed: before.of}
		seen, err := gives(compute.KeepAsOpenSM, past)
		switch {
		case err != nil:
			return NotKept, err
		case seen:
			return KeptSeen, nil
		}
	}
	if !anyUnlinked(live.Fabric) {
		return NotKept, nil
	}
	if could, err := gives(compute.KeepYes, compute.Past{Tables: live}); !could || err != nil {
		return NotKept, err
	}
	return KeptPossible, nil
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
