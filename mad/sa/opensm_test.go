// SPDX-License-Identifier: Apache-2.0

package sa_test

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
)

// dial returns a client at a node of a subnet of two switches and three hosts with LIDs 1 to 5, managed by OpenSM.
func dial(t *testing.T) (*ibsimtest.Sim, *sa.Client) {
	t.Helper()
	s := ibsimtest.Start(t, "../ibsim/testdata/two-switches.net")
	ibsimtest.Master(t, s)
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name, Node: "node2 HCA-1"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mad.NewClient(transport, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := sa.New(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

var (
	dumpBegin = regexp.MustCompile(`(?m)^\w.* dump:$`)
	dumpLine  = regexp.MustCompile(`(?m)^\s*([\w ]+?)[.:]+(.*)$`)
)

// saquery runs the tool, with a timeout for a busy OpenSM, and returns the fields of each printed record.
func saquery(s *ibsimtest.Sim, args ...string) (records []map[string]string) {
	for _, block := range dumpBegin.Split(s.Output("saquery", append([]string{"-t", "20000"}, args...)...), -1)[1:] {
		fields := map[string]string{}
		for _, m := range dumpLine.FindAllStringSubmatch(block, -1) {
			fields[m[1]] = m[2]
		}
		records = append(records, fields)
	}
	return records
}

// same compares our records with the records that saquery printed.
func same(t *testing.T, what string, printed []map[string]string, got ...map[string]string) {
	t.Helper()
	if len(printed) != len(got) || len(printed) == 0 {
		t.Fatalf("%s: %d records, saquery has %d", what, len(got), len(printed))
	}
	for i := range got {
		for name, value := range got[i] {
			if want, ok := printed[i][name]; !ok || value != want {
				t.Errorf("%s: %s is %q, saquery says %q", what, name, value, want)
			}
		}
	}
}

func node(r *sa.NodeRecord) map[string]string {
	kind := map[mad.NodeType]string{mad.NodeCA: "Channel Adapter", mad.NodeSwitch: "Switch"}
	return map[string]string{
		"lid": fmt.Sprint(r.LID), "node_type": kind[r.Info.Type], "num_ports": fmt.Sprint(r.Info.NumPorts),
		"sys_guid":  fmt.Sprintf("0x%016x", r.Info.SystemImageGUID),
		"node_guid": fmt.Sprintf("0x%016x", r.Info.NodeGUID),
		"port_guid": fmt.Sprintf("0x%016x", r.Info.PortGUID), "partition_cap": fmt.Sprintf("0x%X", r.Info.PartitionCap),
		"device_id": fmt.Sprintf("0x%X", r.Info.DeviceID), "revision": fmt.Sprintf("0x%X", r.Info.Revision),
		"port_num": fmt.Sprint(r.Info.LocalPort), "vendor_id": fmt.Sprintf("0x%X", r.Info.VendorID),
		"NodeDescription": r.Description.String(),
	}
}

func path(r *sa.PathRecord) map[string]string {
	return map[string]string{
		"service_id": fmt.Sprintf("0x%016x", r.ServiceID), "dgid": r.DGID.String(), "sgid": r.SGID.String(),
		"dlid": fmt.Sprint(r.DLID), "slid": fmt.Sprint(r.SLID), "pkey": fmt.Sprintf("0x%X", uint16(r.PKey)),
		"sl": fmt.Sprintf("0x%X", r.SL), "mtu": fmt.Sprintf("0x%X", uint8(r.MTUSelector)<<6|uint8(r.MTU)),
		"rate":       fmt.Sprintf("0x%X", uint8(r.RateSelector)<<6|uint8(r.Rate)),
		"preference": fmt.Sprintf("0x%X", r.Preference),
		"pkt_life":   fmt.Sprintf("0x%X", uint8(r.LifeTimeSelector)<<6|r.LifeTime),
	}
}

func TestNodesAndPathsAgainstSaquery(t *testing.T) {
	s, c := dial(t)
	for lid := uint16(1); lid <= 5; lid++ {
		got, err := sa.Get(t.Context(), c, sa.NodeRecord{LID: lid}, sa.NodeLID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("node %d", lid), saquery(s, "NR", fmt.Sprint(lid)), node(&got))
		table, err := sa.GetTable(t.Context(), c, sa.NodeRecord{LID: lid}, sa.NodeLID)
		if err != nil || len(table) != 1 || table[0] != got {
			t.Errorf("a table of node %d: %+v, %v", lid, table, err)
		}
		for dlid := uint16(1); dlid <= 5; dlid++ {
			got, err := sa.Get(t.Context(), c, sa.PathRecord{SLID: lid, DLID: dlid}, sa.PathSLID|sa.PathDLID)
			if err != nil {
				t.Fatal(err)
			}
			printed := saquery(s, "-p", "--slid", fmt.Sprint(lid), "--dlid", fmt.Sprint(dlid))
			same(t, fmt.Sprintf("path %d to %d", lid, dlid), printed, path(&got))
		}
	}
	if _, err := sa.Get(t.Context(), c, sa.NodeRecord{LID: 6}, sa.NodeLID); !errors.Is(err, sa.NoRecords) {
		t.Errorf("LID 6: %v", err)
	}
	if table, err := sa.GetTable(t.Context(), c, sa.NodeRecord{LID: 6}, sa.NodeLID); err != nil || len(table) != 0 {
		t.Errorf("a table of LID 6: %+v, %v", table, err)
	}
}

func TestPortsAgainstSaquery(t *testing.T) {
	s, c := dial(t)
	for lid := uint16(1); lid <= 5; lid++ {
		got, err := sa.Get(t.Context(), c, sa.PortInfoRecord{LID: lid, Port: 1}, sa.PortInfoLID|sa.PortInfoPort)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("port 1 of LID %d", lid), saquery(s, "PIR", fmt.Sprintf("%d/1", lid)), map[string]string{
			"EndPortLid": fmt.Sprint(got.LID), "PortNum": fmt.Sprint(got.Port), "Lid": fmt.Sprint(got.Info.LID),
			"CapMask": fmt.Sprintf("0x%x", uint32(got.Info.CapabilityMask)), "LinkState": got.Info.PortState.String(),
			"LocalPort": fmt.Sprint(got.Info.LocalPort),
		})
	}
}

func TestTablesAgainstSaquery(t *testing.T) {
	s, c := dial(t)
	sms, err := sa.GetTable(t.Context(), c, sa.SMInfoRecord{}, 0)
	if err != nil || len(sms) != 1 {
		t.Fatalf("got %+v, %v", sms, err)
	}
	printed := saquery(s, "SMIR")
	same(t, "subnet managers", printed, map[string]string{
		"LID": fmt.Sprint(sms[0].LID), "GUID": fmt.Sprintf("0x%016x", sms[0].Info.GUID),
		"SM_Key":   fmt.Sprintf("0x%016x", sms[0].Info.SMKey),
		"Priority": fmt.Sprint(sms[0].Info.Priority), "SMState": fmt.Sprint(uint8(sms[0].Info.State)),
	})
	// umad2sim truncates a table after one MAD, which contains one of five nodes completely.
	nodes, err := sa.GetTable(t.Context(), c, sa.NodeRecord{}, 0)
	if !errors.Is(err, mad.ErrTruncated) || len(nodes) != 1 || nodes[0].LID != 1 {
		t.Errorf("all nodes: %+v, %v", nodes, err)
	}
}

func TestJoinAndLeave(t *testing.T) {
	s, c := dial(t)
	member := sa.MCMemberRecord{
		MGID:    mad.GID{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 15: 0x77},
		PortGID: mad.NewGID(mad.DefaultGIDPrefix, 0x0002c90300b00041), QKey: 0xb1b, PKey: mad.PKeyDefault,
		JoinState: sa.JoinFull,
	}
	joined, err := sa.Ask(t.Context(), c, mad.MethodSet, member, sa.MemberMGID|sa.MemberPortGID|sa.MemberQKey|
		sa.MemberPKey|
		sa.MemberJoinState|sa.MemberSL|sa.MemberFlowLabel|sa.MemberTrafficClass)
	if err != nil || joined.MGID != member.MGID || joined.JoinState != sa.JoinFull || joined.MLID < 0xc000 {
		t.Fatalf("joined %+v, %v", joined, err)
	}
	groups, err := sa.GetTable(t.Context(), c, sa.MCMemberRecord{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]string
	for _, g := range groups {
		got = append(got, map[string]string{
			"MGID": g.MGID.String(), "Mlid": fmt.Sprintf("0x%X", g.MLID),
			"Mtu":  fmt.Sprintf("0x%X", uint8(g.MTUSelector)<<6|uint8(g.MTU)),
			"pkey": fmt.Sprintf("0x%X", uint16(g.PKey)),
			"Rate": fmt.Sprintf("0x%X", uint8(g.RateSelector)<<6|uint8(g.Rate)), "SL": fmt.Sprintf("0x%X", g.SL),
		})
	}
	same(t, "groups", saquery(s, "-g"), got...)
	if _, err := sa.Ask(t.Context(), c, mad.MethodDelete, member,
		sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState); err != nil {
		t.Fatal(err)
	}
	groups, err = sa.GetTable(t.Context(), c, sa.MCMemberRecord{MGID: member.MGID}, sa.MemberMGID)
	if err != nil || len(groups) != 0 {
		t.Errorf("after leaving: %+v, %v", groups, err)
	}
}

func TestClassPortInfoAgainstSaquery(t *testing.T) {
	s, c := dial(t)
	got, err := c.ClassPortInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := s.Output("saquery", "-c")
	printed := map[string]string{}
	for _, m := range dumpLine.FindAllStringSubmatch(out, -1) {
		printed[m[1]] = m[2]
	}
	same(t, "SA", []map[string]string{printed}, map[string]string{
		"Capability mask": fmt.Sprintf("0x%04X", got.CapabilityMask), "Capability mask 2": fmt.Sprintf("0x%08X",
			got.CapabilityMask2),
		"Response time value": fmt.Sprintf("0x%02X", got.RespTime),
		"Redirect QKey":       fmt.Sprintf("0x%08x", got.Redirect.QKey),
		"Trap QKey":           fmt.Sprintf("0x%08x", got.Trap.QKey),
	})
}
