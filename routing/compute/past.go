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

// Past is what a subnet manager remembers that lives through one event after another.
type Past struct {
	// Tables are those that it gave the switches last.
	Tables *fabric.Tables
	// Computed are those that an engine made last, which its unicast cache holds.
	Computed *fabric.Tables
	// Top is the highest LID that there was.
	Top uint16
	// LIDs say which LIDs it gives from now on, nil where all ports have LIDs without it.
	LIDs *LIDs
}

// remember keeps in mind what the next job goes on from.
func (r *Result) remember(job *Job, lids *assignment) {
	r.Past.LIDs = lids.next
	r.Past.Tables, r.Past.Computed = r.Tables, r.Tables
	if r.Figures.Engine == CachedEngine {
		r.Past.Computed, r.Past.Top = job.past().Computed, job.past().Top
	}
}

// past is what the subnet manager remembers: the tables before failures where nothing
// was routed since.
func (job *Job) past() Past {
	if job.Past.Tables == nil && job.Failed {
		return Past{Tables: job.Before, Computed: job.Before}
	}
	return job.Past
}

// keeps reports whether an engine keeps routes that it is given; the others compute
// all anew, as OpenSM's do.
func keeps(engine string) bool {
	return slices.Contains([]string{"minhop", "updn", "dnup", "dor"}, engine)
}

// last are the tables that the subnet manager goes on from, nil for none. Back says
// that a link came up since, so that it keeps none of their routes.
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
		return nil, false, fmt.Errorf("there are no routes to keep: %s has no tables for this fabric", job.Against)
	case job.Keep == KeepNo, !usable:
		return nil, false, nil
	}
	back = job.Keep == KeepAsOpenSM && cameUp(last.Fabric, f)
	if !fabric.SameNodes(last.Fabric, f) {
		last = persist.Lay(f, last)
	}
	return last, back, nil
}

// cameUp reports whether the subnet has a link or a node now that it had not.
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

// CachedEngine is what figures call the engine where the unicast cache held.
const CachedEngine = "ucast_cache"

// cached are the tables as OpenSM's unicast cache leaves them, nil where it does not
// hold or is not asked for, and what to say of it.
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
