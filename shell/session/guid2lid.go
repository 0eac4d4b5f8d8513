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
	if p.Kind == Staged && !st.Stale && st.past.LIDs != nil {
		t = st.past.LIDs.GUID2LID.Clone()
	}
	fabrics := []*fabric.Fabric{p.Fabric}
	if base := st.PaperBase().Fabric; fabric.SameNodes(base, p.Fabric) && fabric.KeepsLIDs(base, p.Fabric) {
		fabrics = []*fabric.Fabric{base, p.Fabric}
	}
	owner := map[uint16]uint64{}
	for _, f := range fabrics {
		ends := f.EndPorts
		if f.SMPort != fabric.None {
			ends = append([]fabric.PortIndex{f.EndPortOf(f.SMPort)}, ends...)
		}
		for _, e := range ends {
			port := &f.Ports[e]
			if port.LID == 0 {
				continue
			}
			lids := port.LIDRange()
			t.Set(port.GUID, lids)
			for lid := lids.Min; lid <= lids.Max; lid++ {
				owner[lid] = port.GUID
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
