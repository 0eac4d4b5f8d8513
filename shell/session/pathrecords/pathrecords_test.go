// SPDX-License-Identifier: Apache-2.0

package pathrecords

import (
	"errors"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestPathsWithPKeys adds three hosts to another partition and checks the P_Keys of the paths.
func TestPathsWithPKeys(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	f := s.State().Live.Fabric
	var hosts []fabric.PortIndex
	for _, p := range f.EndPorts {
		if f.Ports[p].Num != 0 {
			hosts = append(hosts, p)
		}
	}
	const limited, full = 0x0042, 0x8042
	s.Publish(session.ChangeLive, func(st *session.State) {
		st.PKeys = map[uint64][]mad.PKey{
			f.Ports[hosts[0]].GUID: {0x7fff, full}, f.Ports[hosts[1]].GUID: {0x7fff, limited},
			f.Ports[hosts[2]].GUID: {0x7fff, limited},
		}
	})
	image, _, err := Build(t.Context(), s, "", false, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(a, b fabric.PortIndex, want pathdb.Want) (uint16, error) {
		r, err := db.View().Query(f.Ports[a].LID, f.Ports[b].LID, want)
		return r.PKey, err
	}
	// Two limited members of both partitions cannot communicate. The other hosts are full members of the default
	// partition.
	if k, err := ask(hosts[0], hosts[1], pathdb.Want{}); k != full || err != nil {
		t.Errorf("0x%04x, %v", k, err)
	}
	if k, err := ask(hosts[1], hosts[0], pathdb.Want{PKey: full}); k != limited || err != nil {
		t.Errorf("0x%04x, %v", k, err)
	}
	if _, err := ask(hosts[1], hosts[2], pathdb.Want{}); !errors.Is(err, pathdb.ErrPartition) {
		t.Errorf("%v", err)
	}
	if k, err := ask(hosts[1], hosts[3], pathdb.Want{}); k != 0x7fff || err != nil {
		t.Errorf("0x%04x, %v", k, err)
	}
	if _, err := ask(hosts[0], hosts[3], pathdb.Want{PKey: full}); !errors.Is(err, pathdb.ErrPartition) {
		t.Errorf("%v", err)
	}
}
