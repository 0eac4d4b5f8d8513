// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"bytes"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// reporter combines the progress of several phases of equal length into one.
type reporter struct {
	report            func(done, total int)
	started, all, len int
}

func newReporter(report func(done, total int), length, phases int) *reporter {
	return &reporter{report: report, all: phases * length, len: length}
}

// phase returns the progress function of the next phase.
func (r *reporter) phase() func(done, total int) {
	if r.report == nil {
		return nil
	}
	before := r.started
	r.started += r.len
	return func(done, _ int) { r.report(before+done, r.all) }
}

// skip skips a phase.
func (r *reporter) skip() { r.started += r.len }

// unreached returns warnings about switches that have no route to one another, including the switch of the SM.
// O(switches^2).
func unreached(f *fabric.Fabric, hops routing.Hops, connected bool) []string {
	hosts, _ := hostsOf(f)
	sm, _ := attached(f)
	without, betweenHosts, withSM := 0, 0, 0
	example := ""
	row := make([]uint8, len(f.Switches))
	members := 0
	for s := range f.NumSwitches() {
		if !f.SwitchNode(s).InSubnet {
			continue
		}
		members++
		row = leastFrom(hops, s, row)
		for d := bytes.IndexByte(row, routing.NoHops); d >= 0 && d < len(row); d++ {
			if row[d] != routing.NoHops || !f.SwitchNode(fabric.SwitchIndex(d)).InSubnet {
				continue
			}
			if without++; without == 1 {
				example = f.NodeName(f.Switches[s]) + " to " + f.NodeName(f.Switches[d])
			}
			if hosts[s] > 0 && hosts[d] > 0 {
				betweenHosts++
			}
			if s == sm || fabric.SwitchIndex(d) == sm {
				withSM++
			}
		}
	}
	if without == 0 {
		return nil
	}
	advice := "; connect_roots would route them"
	if connected {
		advice = ""
	}
	warnings := []string{fmt.Sprintf("%d of %d pairs of switches have no route, %d of them with hosts on both (the "+
		"first: %s)%s", without, members*(members-1), betweenHosts, example, advice)}
	if withSM > 0 {
		warnings = append(warnings,
			fmt.Sprintf("%d of them include %s, the SM's own switch: the SM belongs on a leaf switch",
				withSM, f.NodeName(f.Switches[sm])))
	}
	return warnings
}

// attached returns the switch to which the SM's port belongs or is attached, and the port of this switch.
func attached(f *fabric.Fabric) (sw fabric.SwitchIndex, port uint8) {
	if f.SMPort == fabric.None {
		return fabric.None, 0
	}
	return f.AttachedSwitch(f.EndPortOf(f.SMPort))
}
