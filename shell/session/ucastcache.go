// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/ucastcache"
)

// cachedEngine is what a report calls the engine where the unicast cache held.
const cachedEngine = "ucast_cache"

// cachedRoutes are the tables of a what-if's base as OpenSM's unicast cache leaves
// them, nil where it does not hold or is not asked for, and what to say of it.
func (s *Settings) cachedRoutes(st *State, f *fabric.Fabric, keep Keep) (*fabric.Tables, []string) {
	if !s.cached || keep != KeepAsOpenSM || st.WhatIf == nil {
		return nil, nil
	}
	var base ucastcache.Cache
	if p := st.paperBase(); p.Tables != nil && p.Fabric.MaxLID > 0 {
		base = ucastcache.New(p.Tables)
	}
	tables, verdict := base.Next(f)
	if tables != nil {
		tables.Origin = cachedEngine
	}
	return tables, []string{verdict.String()}
}

// heldPaper is what is staged where the unicast cache held.
func heldPaper(before *fabric.Fabric, t *fabric.Tables) (*Picture, RouteReport) {
	rep := RouteReport{Engine: cachedEngine}
	rep.Switches, rep.Entries = countEntries(t)
	return &Picture{Kind: Staged, Fabric: t.Fabric, Tables: t, When: time.Now(), madeOf: before}, rep
}
