// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/changes/ucastcache"
)

// Past is what a subnet manager remembers from one event to the next.
type Past struct {
	// Tables are the tables that the subnet manager wrote to the switches last.
	Tables *fabric.Tables
	// Computed are the tables that an engine computed last. The unicast cache holds these tables.
	Computed *fabric.Tables
	// Top is the highest LID so far.
	Top uint16
	// LIDs controls the next assignments. It is nil if all ports have LIDs without an assignment.
	LIDs *LIDs
}

// remember sets the Past for the next job.
func (r *Result) remember(job *Job, lids *assignment) {
	r.Past.LIDs = lids.next
	r.Past.Tables, r.Past.Computed = r.Tables, r.Tables
	if r.Figures.Engine == CachedEngine {
		r.Past.Computed, r.Past.Top = job.past().Computed, job.past().Top
	}
}

// past returns what the subnet manager remembers. If nothing was routed since the failures, it returns the tables
// before the failures.
func (job *Job) past() Past {
	if job.Past.Tables == nil && job.Failed {
		return Past{Tables: job.Before, Computed: job.Before}
	}
	return job.Past
}

// keeps reports whether an engine keeps existing routes. Other engines compute all routes, as in OpenSM.
func keeps(engine string) bool {
	return slices.Contains([]string{"minhop", "updn", "dnup", "dor"}, engine)
}

// last returns the tables from which the subnet manager continues, or nil. The result back is true if a link came up
// since these tables were made; the subnet manager then keeps none of their routes.
func (job *Job) last(f *fabric.Fabric) (last *fabric.Tables, back bool, err error) {
	last = job.past().Tables
	if job.Keep == KeepYes && last == nil {
		last = job.Before
	}
	usable := last != nil && last.Fabric.MaxLID > 0 && slices.ContainsFunc(f.Switches, func(n fabric.NodeIndex) bool {
		return last.Fabric.SwitchByGUID(f.Nodes[n].GUID) != fabric.None
	})
	switch {
	case job.Keep == KeepYes && !usable:
		return nil, false, fmt.Errorf("keep routes: %s has no tables for this fabric", job.Against)
	case job.Keep == KeepNo, !usable:
		return nil, false, nil
	}
	back = job.Keep == KeepAsOpenSM && cameUp(last.Fabric, f)
	if !fabric.SameNodes(last.Fabric, f) {
		last = persist.Transfer(f, last)
	}
	return last, back, nil
}

// cameUp reports whether the new subnet has a link or a node that the old subnet does not have.
func cameUp(was, now *fabric.Fabric) bool {
	if !fabric.SameNodes(was, now) {
		return slices.ContainsFunc(fabric.Changes(was, now), func(c fabric.Change) bool {
			return c.Kind == fabric.NodeNew || c.Kind == fabric.LinkUp
		})
	}
	return slices.ContainsFunc(now.Links(), func(l fabric.Link) bool {
		return now.Discovered(l.A) && (was.Ports[l.A].Peer != l.B || !was.Discovered(l.A))
	})
}

// CachedEngine is the value of [Figures.Engine] if the unicast cache was valid.
const CachedEngine = "ucast_cache"

// cached returns the tables as OpenSM's unicast cache leaves them, and notes about the cache. The result is nil if the
// cache is invalid or not requested.
func (job *Job) cached(f *fabric.Fabric) (*Result, []string) {
	past := job.past()
	if !job.Cached || job.Keep != KeepAsOpenSM || !job.Failed && past.Computed == nil {
		return nil, nil
	}
	var base ucastcache.Cache
	if t := past.Computed; t != nil && t.Fabric.MaxLID > 0 {
		base = ucastcache.New(t)
	}
	before := f
	if past.Tables != nil {
		before = past.Tables.Fabric
	}
	tables, verdict := base.Next(f)
	if fabric.SameNodes(before, f) {
		tables, verdict = base.After(before, f)
	}
	note := []string{verdict.String()}
	if tables == nil {
		return nil, note
	}
	tables.Origin = CachedEngine
	return &Result{Result: routing.Result{Tables: tables}}, note
}
