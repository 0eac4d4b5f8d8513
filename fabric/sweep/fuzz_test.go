// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"context"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// FuzzChangedAnswers sweeps a small subnet whose answers are changed: three bytes of input select an answer, a byte of
// its attribute, and the new value. Whatever nodes answer, the sweep ends with a consistent fabric.
func FuzzChangedAnswers(f *testing.F) {
	f.Add([]byte{0, 3, 0, 2, 36, 9})
	f.Add([]byte{20, 32, 0x11, 25, 3, 1, 40, 17, 9})
	f.Add([]byte{1, 2, 2, 7, 12, 1, 9, 19, 1})
	f.Add([]byte{4, 32, 0x11, 5, 6, 0xff, 5, 7, 0xff, 30, 17, 200})
	subnet, err := fabric.AssignLIDs(generate(f, "torus:2x2,1"))
	if err != nil {
		f.Fatal(err)
	}
	subnet = subnet.Activated()
	f.Fuzz(func(t *testing.T, changes []byte) {
		byAnswer := map[int][][2]byte{}
		for ; len(changes) >= 3; changes = changes[3:] {
			byAnswer[int(changes[0])] = append(byAnswer[int(changes[0])],
				[2]byte{changes[1] % mad.DataSize, changes[2]})
		}
		n := -1
		s := sim.New(subnet, sim.Options{SendBack: true})
		truth := full(t, client(t, open(t, s, subnet.SMPort), mad.ClientOptions{}), sweep.Options{NoTables: true})
		conn := &changer{open(t, s, subnet.SMPort), func(m *mad.SMP) {
			n++
			for _, c := range byAnswer[n] {
				m.Data[c[0]] = c[1]
			}
		}}
		c := client(t, conn, mad.ClientOptions{Timeout: time.Minute, Tries: 1})
		res, err := sweep.Full(context.Background(), c, everything)
		n = -1
		if res, err := sweep.Light(context.Background(), c, truth.Fabric,
			sweep.LightOptions{Descriptions: true}); err == nil {
			for _, change := range res.Changes {
				_ = change.String()
			}
			for i := range res.Fabric.NumNodes() {
				if i > 0 && !res.Fabric.Nodes[i].InSubnet && len(res.Warnings) == 0 {
					t.Errorf("light: %s is missing without a warning", res.Fabric.NodeName(i))
				}
			}
		}
		if err != nil {
			return // the answer of the local port was invalid
		}
		for i := range res.Fabric.NumNodes() {
			if i > 0 && !res.Fabric.Nodes[i].InSubnet && len(res.Warnings) == 0 {
				t.Errorf("%s is missing without a warning", res.Fabric.NodeName(i))
			}
		}
		for _, l := range res.Fabric.Links() {
			if res.Fabric.Ports[l.A].Peer != l.B || res.Fabric.Ports[l.B].Peer != l.A {
				t.Errorf("half a link: %v", l)
			}
		}
		_ = describe(res.Fabric)
		_ = describeTables(res.Tables)
		for _, h := range res.Unanswered {
			_ = h.String()
		}
		if res.Fabric.SMPort == fabric.None {
			t.Error("no SM port")
		}
	})
}
