// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
)

// groupFile writes a file of one group with the first ports of four hosts of a generated fabric, which has the GUIDs of
// ibsim.
func groupFile(t *testing.T) string {
	t.Helper()
	text := "MC Group 0xc001 : mgid=0xff12000000000000:0x1000\n"
	for i := range 4 {
		text += fmt.Sprintf("mcm_port: port_gid=0xfe80000000000000:0x%016x\n", 0x100001+4*i)
	}
	return write(t, text)
}

// TestMulticastOffline makes trees for groups of a file and checks them, also with a removed branch.
func TestMulticastOffline(t *testing.T) {
	stateHome(t)
	groups, out := groupFile(t), filepath.Join(t.TempDir(), "mcfdbs")
	source := []string{"-s", "sim:fattree:2,4", "-c"}
	text := ibconsole(t,
		append(source, "load groups "+groups+"; route; show groups 0xC001; check mcast; trace node-0001 mlid:0xC001; "+
			"dump mcfdbs "+out)...)
	for _, want := range []string{
		"trees for 1 multicast LID", "every member gets each packet once", "node-0001 HCA-1/1 -> multicast 0xc001",
		"3 ports receive it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	ibconsole(t, append(source, "load groups "+groups+"; load mcfdbs "+out+"; check mcast; dump mcfdbs "+out+"2")...)
	sameFile(t, out, out+"2")
	lines := strings.SplitAfter(read(t, out), "\n")
	if len(lines) < 4 {
		t.Fatal(lines)
	}
	cut := write(t, strings.Join(lines[4:], "")) // without the first switch
	r := try(append(source, "load groups "+groups+"; load mcfdbs "+cut+"; check mcast")...)
	if r.status != exitFailed || !strings.Contains(r.out, "does not receive packets of") ||
		!strings.Contains(r.err, "pairs missing") {
		t.Errorf("with a missing branch: status %d, %s%s", r.status, r.out, r.err)
	}
	if r := try(append(source, "load groups "+groups+"; trace node-0001 mlid:7")...); r.status != exitFailed {
		t.Errorf("a trace to LID 7: %s", r.out)
	}
	if r := try(append(source, "show groups")...); r.status != exitFailed ||
		!strings.Contains(r.err, "load groups FILE") {
		t.Errorf("without groups: %s", r.err)
	}
}

// TestMulticastWithOpenSM lets ports join a group of an OpenSM. Its groups and tables are read, routed again without
// a difference, and dumped in the same form.
func TestMulticastWithOpenSM(t *testing.T) {
	stateHome(t)
	testenv.Tool(t, "opensm")
	f, err := gen.ParseSpec("fattree:2,6")
	if err != nil {
		t.Fatal(err)
	}
	var net bytes.Buffer
	if err := gen.WriteNet(&net, f); err != nil {
		t.Fatal(err)
	}
	sim := ibsimtest.Start(t, write(t, net.String()))
	dir := ibsimtest.Master(t, sim)
	members := joinThree(t, sim)
	waitFor(t, filepath.Join(dir, "opensm.mcfdbs"), "0xC001")
	out := filepath.Join(t.TempDir(), "mcfdbs")
	text := ibconsole(t, "-s", "ibsim:"+sim.Name, "--json", "-c", "sweep full mft; sa groups; dump mcfdbs "+out+
		"; show groups 0xC001; check mcast; trace lid:1 mlid:0xC001; route")
	sameFile(t, filepath.Join(dir, "opensm.mcfdbs"), out)
	routed, checked, named := false, false, 0
	for line := range strings.Lines(text) {
		var o struct {
			GUID, Command string
			Multicast     *struct{ LIDs, Changed int }
			Pairs         int
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			continue
		}
		if strings.Contains(members, o.GUID) && o.GUID != "" {
			named++
		}
		checked = checked || o.Command == "check mcast" && o.Pairs == 6
		routed = routed || o.Multicast != nil && o.Multicast.LIDs == 1 && o.Multicast.Changed == 0
	}
	if !routed || !checked || named != 3 {
		t.Errorf("routed %v, checked %v, %d of 3 members\n%s", routed, checked, named, text)
	}
}

// joinThree lets three hosts join a group, and returns their port GUIDs.
func joinThree(t *testing.T, sim *ibsimtest.Sim) (members string) {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name})
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(transport, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	admin, err := sa.New(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for _, guid := range []uint64{0x100001, 0x100007, 0x10000f} {
		rec := sa.MCMemberRecord{
			MGID: mad.NewGID(0xff12000000000000, 0x1000), PortGID: mad.NewGID(mad.DefaultGIDPrefix, guid), QKey: 1,
			PKey: 0xffff, JoinState: sa.JoinFull,
		}
		got, err := sa.Ask(t.Context(), admin, mad.MethodSet, rec, sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState|
			sa.MemberQKey|sa.MemberTrafficClass|sa.MemberPKey|sa.MemberFlowLabel|sa.MemberSL)
		if err != nil || got.MLID != 0xc001 {
			t.Fatalf("join: %+v, %v", got, err)
		}
		members += fmt.Sprintf("0x%016x ", guid)
	}
	return members
}
