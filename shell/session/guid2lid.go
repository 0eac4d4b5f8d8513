// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// GUID2LID returns the LIDs that OpenSM would remember if it had assigned the LIDs of a state. It includes ports that
// no longer exist, from the loaded guid2lid file or the base. The port of the subnet manager is the first.
func (st *State) GUID2LID(p *Picture) *fabric.GUID2LID {
	t := st.Settings.Remembered(p.Fabric)
	fabrics := []*fabric.Fabric{p.Fabric}
	if base := st.PaperBase().Fabric; fabric.SameNodes(base, p.Fabric) && fabric.KeepsLIDs(base, p.Fabric) {
		fabrics = []*fabric.Fabric{base, p.Fabric}
	}
	if p.Kind == Staged && !st.Stale && st.past.LIDs != nil {
		past := st.past.LIDs.GUID2LID
		if t.Len() > 0 || len(fabrics) == 1 {
			t = past.Clone()
		} else { // as OpenSM, which remembers the ports of the base, including failed ones, before later ports
			t.SetPorts(fabrics[0])
			for _, r := range slices.Backward(slices.Collect(past.Records())) {
				t.Add(r)
			}
		}
	}
	owner := map[uint16]uint64{}
	for _, f := range fabrics {
		t.SetPorts(f)
		for _, e := range f.EndPorts {
			lids := f.Ports[e].LIDRange()
			for lid := lids.Min; lid > 0 && lid <= lids.Max; lid++ {
				owner[lid] = f.Ports[e].GUID
			}
		}
	}
	for _, r := range slices.Collect(t.Records()) {
		for lid := r.LIDs.Min; r.Readable && lid <= r.LIDs.Max && lid > 0; lid++ {
			if guid, ok := owner[lid]; ok && guid != r.GUID {
				t.Delete(r.GUID)
				break
			}
		}
	}
	return t
}
