// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
)

// Answers tells what did not answer a sweep, and what two claim.
func (r *Report) Answers(unanswered []sweep.Unanswered, duplicates []sweep.Duplicate) {
	for _, h := range unanswered {
		at := Place{h.GUID, h.Port, h.Node}
		if h.Port >= 0 {
			at.Name = fmt.Sprintf("%s/%d", h.Node, h.Port)
		}
		r.Add(Silent, at, "is it up, is its firmware alive, does the M_Key fit? sweep again; show targets", "%v", h)
	}
	told := map[string]bool{}
	for _, d := range duplicates {
		at := Place{d.GUID, d.Port, fmt.Sprintf("%s/%d", d.Node, d.Port)}
		kind, try := DuplicateGUID, "one of the two needs another GUID: its firmware was copied (mlxfwmanager, flint)"
		if d.Kind == sweep.DuplicateLID {
			kind, try = DuplicateLID, "restart the subnet manager, or two of them are at work: show sms"
		}
		key := fmt.Sprintf("%s %d %s", d.Kind, d.Value, at.Name)
		if !told[key] {
			told[key] = true
			r.Add(kind, at, try, "%s", d.Text)
		}
	}
}

// Manager is a subnet manager as it was seen.
type Manager struct {
	GUID  uint64 `json:"guid"`  // of the port
	Port  string `json:"port"`  // its name
	State string `json:"state"` // in words: "master", "standby", "silent"
}

// Managers tells where there is no master, or more than one. One that is discovering is about to be it.
func (r *Report) Managers(f *fabric.Fabric, seen []Manager) {
	place := func(m Manager) Place {
		if p := f.PortByGUID(m.GUID); p != fabric.None {
			return PlaceOfPort(f, p)
		}
		return Place{Port: -1, Name: m.Port}
	}
	var masters []Manager
	for _, m := range seen {
		switch m.State {
		case "master", "discovering":
			masters = append(masters, m)
		case "silent":
			r.Add(SilentManager, place(m), "is the process still running? opensm -c, systemctl status opensm",
				"%s says that a subnet manager runs there, which does not answer", m.Port)
		}
	}
	if len(masters) == 0 {
		r.Add(NoMaster, Nowhere, "start one: systemctl start opensm; show sms",
			"no subnet manager is in charge: nothing is repaired when a link fails")
	}
	masters = slices.DeleteFunc(masters, func(m Manager) bool { return m.State != "master" })
	if len(masters) > 1 {
		var names []string
		for _, m := range masters {
			names = append(names, m.Port)
		}
		r.Add(TwoMasters, place(masters[1]), "stop all but one; their priorities and M_Keys: show sms",
			"%s all say that they are the master", strings.Join(names, " and "))
	}
}
