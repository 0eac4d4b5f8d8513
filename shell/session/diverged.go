// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
)

// divergence holds the changes of the live subnet since the what-if started or, without a what-if, since the staged
// tables were computed. Only links and nodes count: a commit changes tables, LIDs and port states itself.
type divergence struct {
	from, whatIf, live *fabric.Fabric // what the texts below were derived from
	// ofBase describes the changes that the base lacks, and ofRest those that the what-if and the staged tables lack.
	// They are "" for none.
	ofBase, ofRest string
}

const maxDiverged = 3 // how many links and nodes a divergence lists

// diverge updates the divergence of the present states. It takes O(ports) time if one of their fabrics is new.
func (ps *Pictures) diverge() {
	d := divergence{live: ps.Live.Fabric}
	since := ps.Base
	switch {
	case ps.Base != nil && ps.Base.file == "":
		d.from, d.whatIf = ps.Base.Fabric, ps.WhatIf.Fabric
	case ps.Base == nil && ps.Staged != nil:
		d.from, since = ps.Staged.madeOf, ps.Staged
	}
	was := &ps.diverged
	if d.from == was.from && d.live == was.live && d.whatIf == was.whatIf {
		return
	}
	ps.diverged = d
	if d.from == nil || d.from == d.live || len(d.from.Nodes) == 0 || fabric.SameLinks(d.from, d.live) {
		return
	}
	changes := slices.DeleteFunc(fabric.Changes(d.from, d.live), func(c fabric.Change) bool {
		return c.Kind != fabric.NodeGone && c.Kind != fabric.NodeNew && c.Kind != fabric.LinkDown &&
			c.Kind != fabric.LinkUp
	})
	text := func() string {
		if len(changes) == 0 {
			return ""
		}
		return fmt.Sprintf("the live subnet has changed since %s: %s", when.Clock(since.When),
			fabric.Summary(changes, maxDiverged))
	}
	ps.diverged.ofBase = text()
	if d.whatIf != nil {
		changes = slices.DeleteFunc(changes, func(c fabric.Change) bool { return c.In(d.whatIf) })
	}
	ps.diverged.ofRest = text()
}

// Diverged describes the changes of the live subnet that the state p lacks because it is based on an earlier reading.
// It returns "" for no changes, and for states that are not based on the live subnet.
func (ps *Pictures) Diverged(p *Picture) string {
	switch p.Kind {
	case Base:
		return ps.diverged.ofBase
	case WhatIf, Staged:
		return ps.diverged.ofRest
	}
	return ""
}

// divergedWarning returns [Pictures.Diverged] as a warning of answers about p, with what to do.
func (ps *Pictures) divergedWarning(p *Picture) []string {
	text := ps.Diverged(p)
	if text == "" {
		return nil
	}
	again := "route"
	if ps.Base != nil {
		again = prose.When(ps.Staged != nil, "restore all; route", "restore all")
	}
	return []string{fmt.Sprintf("%s, and %s lacks this; hint: run '%s' to start again from the live subnet", text,
		p.Kind, again)}
}
