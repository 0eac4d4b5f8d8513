// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// TestMKeyOpensTheSubnet sweeps a subnet whose agents respond only to a key.
func TestMKeyOpensTheSubnet(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	const key = 0x1234
	subnet := sim.New(f, sim.Options{Active: true})
	dial := func(k uint64) *mad.Client {
		conn, err := subnet.Open(f.EndPortOf(f.SMPort))
		if err != nil {
			t.Fatal(err)
		}
		opt := mad.Fast()
		opt.MKey, opt.Tries = k, 1
		client, err := mad.NewClient(conn, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	lock := dial(0)
	routes := sweep.NewRoutes(f)
	for _, e := range f.EndPorts {
		path, err := routes.ToPort(e)
		if err != nil {
			t.Fatal(err)
		}
		info, err := lock.PortInfo(t.Context(), path, f.Ports[e].Num)
		if err == nil {
			info.MKey, info.MKeyProtect = key, 2
			info.PortState, info.PhysState, info.LinkDownDefault = 0, 0, 0
			_, err = mad.Set(t.Context(), lock, path, uint32(f.Ports[e].Num), info)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sweepWith := func(k uint64) (*sweep.Result, error) { return sweep.Full(t.Context(), dial(k), sweep.Options{}) }
	res, err := sweepWith(key)
	if err != nil || len(res.Unanswered) > 0 || len(res.Fabric.Nodes) != len(f.Nodes) {
		t.Fatalf("with the key: %v, %+v", err, res)
	}
	if res, err = sweepWith(0); err == nil && len(res.Unanswered) == 0 {
		t.Error("without the key all nodes respond to the sweep")
	}
}
