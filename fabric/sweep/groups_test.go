// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// TestGroups reads groups from a simulated administration with its key, without a key, and with a wrong one.
func TestGroups(t *testing.T) {
	const key = 0x77
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := sim.New(f, sim.Options{Tables: res.Tables, Active: true})
	s.SetSM(f.SMPort, &mad.SMInfo{GUID: f.Ports[f.SMPort].GUID, SMKey: key, State: mad.SMMaster})
	var groups []sim.Group
	var want []fabric.Group
	for i := range 6 {
		g := sa.MCMemberRecord{MGID: mad.NewGID(0xff12000000000000, uint64(i)), MLID: 0xc000 + uint16(i), PKey: 0xffff,
			SL: uint8(i), JoinState: uint8(sa.JoinFull), MTU: mad.MTU2048, Rate: 3}
		w := fabric.Group{MGID: g.MGID, MLID: g.MLID, PKey: 0xffff, SL: uint8(i), MTU: uint8(mad.MTU2048), Rate: 3}
		members := f.EndPorts[i : 2*i]
		for _, e := range members {
			w.Members = append(w.Members, fabric.Member{Prefix: mad.DefaultGIDPrefix, GUID: f.Ports[e].GUID,
				Join: fabric.JoinFull})
		}
		w.Members = fabric.SortMembers(w.Members)
		groups, want = append(groups, sim.Group{MCMemberRecord: g, Members: members}), append(want, w)
	}
	s.SetGroups(groups)
	conn, err := s.Open(f.EndPorts[0])
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(conn, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	admin := &sa.Client{MAD: client, LID: f.Ports[f.SMPort].LID, SMKey: key, Timeout: 100 * time.Millisecond}
	for _, k := range []uint64{key, 0} {
		admin.SMKey = k
		got, full, err := sweep.Groups(t.Context(), admin, f, nil)
		if err != nil || full != (k != 0) || !reflect.DeepEqual(got, want) {
			t.Errorf("with key %#x: %v, %v\n%+v, want\n%+v", k, full, err, got, want)
		}
	}
	admin.SMKey = key + 1
	if _, _, err := sweep.Groups(t.Context(), admin, f, nil); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("with a wrong key: %v", err)
	}
}
