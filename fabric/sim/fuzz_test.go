// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// FuzzSend gives the subnet any packet: it must answer it, or hand it back.
func FuzzSend(f *testing.F) {
	subnet := generate(f, "torus:2x2,1")
	for _, attr := range []mad.AttrID{mad.AttrNodeInfo, mad.AttrPortInfo, mad.AttrSwitchInfo, mad.AttrLinearForwardingTable, mad.AttrSMInfo, 0x99} {
		for _, method := range []mad.Method{mad.MethodGet, mad.MethodSet, mad.MethodGetResp} {
			path, err := mad.NewPath(1, 3)
			if err != nil {
				f.Fatal(err)
			}
			smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: method, Attr: attr, Mod: 1}
			smp.SetPath(path)
			b, _ := smp.MarshalBinary()
			f.Add(uint16(mad.PermissiveLID), b)
			smp.Class = mad.ClassSMPLID
			b, _ = smp.MarshalBinary()
			f.Add(uint16(2), b)
		}
	}
	s := sim.New(subnet, sim.Options{Active: true, SendBack: true})
	for i := range subnet.EndPorts {
		s.SetLID(subnet.EndPorts[i], uint16(i+1))
	}
	s.SetSM(subnet.SMPort, &mad.SMInfo{State: mad.SMMaster})
	f.Fuzz(func(t *testing.T, dlid uint16, b []byte) {
		conn, err := s.Open(subnet.SMPort)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		frame := mad.Frame{DLID: dlid}
		copy(frame.Data[:], b)
		if err := conn.Send(&frame); err != nil {
			t.Fatal(err)
		}
		if err := conn.Recv(&frame); err != nil {
			t.Fatal(err)
		}
		if frame.Status == 0 && frame.Data[3] != uint8(mad.MethodGetResp) {
			t.Errorf("an answer with method %#x", frame.Data[3])
		}
	})
}
