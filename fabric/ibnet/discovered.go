// SPDX-License-Identifier: Apache-2.0

package ibnet

import "example.org/ibconsole/mad"

// discovered says whether the records are throughout as ibnetdiscover prints them
// (ibnetdiscover.c, out_switch_port and out_ca_port), whatever the file's first
// lines are: GUIDs in the ids, the port GUID of each switch and adapter in
// brackets, and a rate on each port line. Nets that are written for ibsim leave
// some of that out. O(ports).
func (p *parser) discovered() bool {
	if p.written || p.ibdiagnet || p.module != "" || len(p.lost) > 0 {
		return false
	}
	adapters := 0
	for i := range p.records {
		r := &p.records[i]
		if !r.discovered() {
			return false
		}
		if r.typ != mad.NodeSwitch {
			adapters += len(r.cables)
		}
	}
	return adapters > 0
}

func (r *record) discovered() bool {
	isSwitch := r.typ == mad.NodeSwitch
	if idGUID(r.id) != r.guid || isSwitch && r.bracketed == 0 {
		return false
	}
	for i := range r.cables {
		c := &r.cables[i]
		if c.own != "" || c.stated.width == 0 || c.stated.speed == 0 || !isSwitch && c.guid == 0 {
			return false
		}
	}
	return true
}
