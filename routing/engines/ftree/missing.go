// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// unreached returns warnings about switches that have no path to hosts or to other switches.
func (w *walker) unreached() []string {
	n := len(w.rank)
	outside := 0 // switches that are not in the tree
	for s := range fabric.SwitchIndex(n) {
		if !w.ranked(s) {
			outside++
		}
	}
	var toHosts, toSwitches []fabric.PortIndex
	for i := range w.adapters {
		toHosts = append(toHosts, w.adapters[i].end)
	}
	for s := range fabric.SwitchIndex(n) {
		if w.ranked(s) {
			toSwitches = append(toSwitches, w.f.SwitchNode(s).FirstPort)
		}
	}
	hosts := w.missing(toHosts, outside, func(s fabric.SwitchIndex) bool { return w.at[s].hosts })
	switches := w.missing(toSwitches, outside, func(fabric.SwitchIndex) bool { return true })
	var out []string
	if hosts.n > 0 {
		out = append(out, fmt.Sprintf("%s of the routes from switches with hosts to hosts are missing (the first: %s)",
			prose.Thousands(hosts.n), hosts.first))
	}
	if switches.n > 0 {
		advice := "; connect_roots may add them"
		if w.opt.ConnectRoots {
			advice = ""
		}
		out = append(out, fmt.Sprintf("%s of %s pairs of switches have no route (the first: %s)%s",
			prose.Thousands(switches.n), prose.Thousands((n-outside)*(n-outside-1)), switches.first, advice))
	}
	return out
}

// inMemoryOrder returns a warning about the switches with compute nodes whose adapters OpenSM orders by addresses in
// its memory.
func (w *walker) inMemoryOrder() []string {
	var all []fabric.SwitchIndex
	for _, s := range w.leaves {
		adapters := 0
		for i := range w.down[s] {
			if w.down[s][i].remote == fabric.None {
				adapters++
			}
		}
		if w.reordered[s] && adapters > 1 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("OpenSM orders the adapters of %d leaf switches by addresses in its memory, so that "+
		"its tables may change from run to run (%s)", len(all), w.names(all, func(s fabric.SwitchIndex) string {
		return fmt.Sprintf("has links to %d switches of its rank or below", len(w.numbers(DownPorts, s))+len(w.side[s]))
	}))}
}

// missing counts absent routes.
type missing struct {
	n     int
	first string
}

// missing returns the number of absent routes from the switches in the tree to end ports. It counts only switches for
// which matters returns true.
func (w *walker) missing(ends []fabric.PortIndex, outside int, matters func(s fabric.SwitchIndex) bool) (m missing) {
	ends = slices.DeleteFunc(ends, func(e fabric.PortIndex) bool { return int(w.gaps[w.f.Ports[e].LID]) == outside })
	lids := make([]uint16, len(ends))
	for i, e := range ends {
		lids[i] = w.f.Ports[e].LID
	}
	first := len(ends)
	for s := range fabric.SwitchIndex(len(w.rank)) {
		if !w.ranked(s) || !matters(s) {
			continue
		}
		row := w.lft.Row(s)
		for i, lid := range lids {
			if row[lid] != fabric.NoPath {
				continue
			}
			if m.n++; i < first {
				first = i
				m.first = w.f.NodeName(w.f.Switches[s]) + " to " + w.f.NodeName(w.f.Ports[ends[i]].Node)
			}
		}
	}
	return m
}
