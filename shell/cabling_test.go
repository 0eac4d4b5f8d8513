// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDumpedPlan checks subnets against the plan that was written of them, and against one that was generated.
func TestDumpedPlan(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan")
	for _, shape := range []string{"fattree:2,8", "director:2,2", "multiplane:2,4,2", "torus:3x3,hosts=2,agg=yes"} {
		kind, args, _ := strings.Cut(shape, ":")
		for _, make := range []string{"dump cabling ", "gen plan " + kind + " " + args + " format=yaml ",
			"gen plan " + kind + " " + args + " format=csv "} {
			out, err := on(t, "sim:"+shape, make+plan+"; check cabling "+plan)
			if err != nil || !strings.Contains(out, "0 faults") || strings.Contains(out, "not ") {
				t.Errorf("%s: %s: %v\n%s", shape, make, err, out)
			}
		}
	}
}

// TestVerdictOfCabling: faults fail, and lines that cannot be matched make the result unknown, never a fault.
func TestVerdictOfCabling(t *testing.T) {
	// The hosts of leaf-01 in fattree:2,4 are node-0001 and node-0002, on its ports 1 and 2.
	const hosts = "node-0001 HCA-1,1,leaf-01,1\nnode-0002 HCA-1,1,leaf-01,2\n"
	const swapped = "node-0001 HCA-1,1,leaf-01,2\nnode-0002 HCA-1,1,leaf-01,1\n"
	for _, c := range []struct {
		plan    string
		wants   []string
		failure string // "" for none
		always  bool   // also with strict=no
	}{
		{hosts, []string{"2 of 2 planned cables in place, 0 faults"}, "", false},
		{hosts + "leaf-01,99,node-0001 HCA-1,1\n", []string{
			"2 of 2 planned cables in place, 0 faults",
			"not matched: line 3: leaf-01 99 - node-0001 HCA-1 1: leaf-01 has no port 99",
		}, "1 planned cable could not be compared", false},
		{"StartDevice,StartPort,EndDevice,EndPort\nleaf-01,Blade 7_Port 1/1,node-0001,Port 1\n" +
			"leaf-01,Port 2,node-0002,Port 1\n", []string{
			"1 of 1 planned cable in place", "leaf-01 has no board L7/U1",
		}, "1 planned cable could not be compared", false},
		{"A title,,,\nA-Node Name,A-Port,Z-Node Name,Z-Port\nnode-0001,1,leaf-01,1\nnode-0002,1,leaf-01,2\n", []string{
			"(P2P table): 2 of 2 planned cables in place", "not compared: 1 line: before the heading",
		}, "", false},
		{"[[node-0001, 1, leaf-01, 1], [node-0002, 1, leaf-01, 2]]\n", []string{
			"(YAML of cables): 2 of 2 planned cables in place",
		}, "", false},
		{"cables:\n- [node-0001, 1, leaf-01, 1]\n---\ncables:\n- [node-0002, 1, leaf-01, 2]\n", []string{
			"(YAML of cables): 2 of 2 planned cables in place",
		}, "", false},
		{hosts + "leaf-01,1/1/1,node-0001 HCA-1,1\n", []string{"the labels of leaf-01 are not known"},
			"1 planned cable could not be compared", false},
		{swapped, []string{"0 of 2 planned cables in place, 1 fault", "swapped", "repair: cost 2: 2 moves"}, "1 fault",
			true},
	} {
		path := writeFile(t, "plan.csv", c.plan)
		for _, strict := range []string{"", " strict=no"} {
			out, err := on(t, "sim:fattree:2,4", "check cabling "+path+" scope=node-0001,node-0002"+strict)
			for _, w := range c.wants {
				if !strings.Contains(out, w) {
					t.Errorf("%q: no %q:\n%s", c.plan, w, out)
				}
			}
			fails := c.failure != "" && (c.always || strict == "")
			if fails != (err != nil) || fails && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("%q%s: %v", c.plan, strict, err)
			}
		}
	}
}

// labelledFolder writes an ibdiagnet folder of fattree:2,4 with labels of the ports 3 and 4 of leaf-01.
func labelledFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	if out, err := on(t, "sim:fattree:2,4", "dump ibdiagnet "+folder); err != nil {
		t.Fatal(err, out)
	}
	db := filepath.Join(folder, "ibdiagnet2.db_csv")
	text, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	const section = "START_PORT_HIERARCHY_INFO\nNodeGUID,PortGUID,PortNum,ExtendedLabel\n"
	labelled := strings.Replace(string(text), section, "START_PORT_HIERARCHY_INFO\nNodeGUID,PortGUID,TemplateGUID,"+
		"PortNum,ExtendedLabel,ASIC,Cage,Port\n0x200000,0x200000,0x1,3,\"1/2/1\",1,2,1\n"+
		"0x200000,0x200000,0x1,4,\"1/2/2\",1,2,2\n", 1)
	if labelled == string(text) {
		t.Fatal("the folder has no section of labels")
	}
	if err := os.WriteFile(db, []byte(labelled), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestLabels finds the label behind each port with a known label, in all forms of answers, and accepts the names of
// such ports as arguments.
func TestLabels(t *testing.T) {
	folder := labelledFolder(t)
	show := func(script string) string {
		t.Helper()
		out, err := on(t, "ibdiagnet:"+folder, script)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return out
	}
	bare := regexp.MustCompile(`leaf-01/3\b`)
	for _, script := range []string{
		"show links leaf-01", "show ports spine-01", "who uses leaf-01/3", "fail link leaf-01/3; whatif",
		"trace node-0001 node-0003 back=yes", "balance switch leaf-01",
		"show where leaf-01/3",
	} {
		out := show(script)
		for _, at := range bare.FindAllStringIndex(out, -1) {
			if !strings.HasPrefix(out[at[1]:], " (1/2/1)") {
				t.Errorf("%s: a port without its label:\n%s", script, out)
				break
			}
		}
	}
	for _, c := range []struct{ script, want string }{
		{"show ports leaf-01", "3 (1/2/1)  Active"},
		{"trace node-0001 node-0003", "(1/2/"},
		{"show lft leaf-01", "3 (1/2/1)  spine-01/1"},
		{"fail link leaf-01/3; route; diff entries", "3 (1/2/1)  4 (1/2/2)"},
		{"engine lash; route; show sl2vl leaf-01", "4 (1/2/2)  "},
	} {
		if out := show(c.script); !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q:\n%s", c.script, c.want, out)
		}
	}
	if a, b := show("who uses leaf-01/3"), show("who uses 'leaf-01/3 (1/2/1)'"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	out, err := on(t, "ibdiagnet:"+folder, "who uses 'leaf-01/3 (1/2/2)'")
	if err == nil || !strings.Contains(err.Error(), `has not the label "1/2/2"`) {
		t.Errorf("another label: %v\n%s", err, out)
	}
}

// TestLabelsOfPlan: check cabling gives the labels of a plan to ports without a label, in all states and after sweeps.
func TestLabelsOfPlan(t *testing.T) {
	plan := writeFile(t, "plan.topo", "IS5030 leaf-01\n   IB1/P3 -> IS5030 spine-01 P1\n"+
		"   IB1/P4 -> IS5030 spine-02 P1\n"+
		"   P1 -> HCA node-0001 P1\n   P2 -> HCA node-0002 P1\n")
	show := "show links leaf-01 of=live; show links spine-01 of=whatif; sweep; show ports leaf-01; "
	out, err := on(t, "sim:fattree:2,4", "fail link leaf-01/2; "+show+"check cabling "+plan+
		" scope=leaf-01 of=live; "+show)
	if err != nil {
		t.Fatal(err, out)
	}
	before, after, _ := strings.Cut(out, "cabling of live by")
	if strings.Contains(before, "IB1") {
		t.Errorf("labels before the plan was read:\n%s", before)
	}
	if n := strings.Count(after, "leaf-01/3 (IB1/P3)"); n < 2 || !strings.Contains(after, "3 (IB1/P3)  Active") {
		t.Errorf("%d ports with labels:\n%s", n, after)
	}
	if !strings.Contains(after, "labels from "+plan+": 2 ports") {
		t.Errorf("the origin of the labels is not named:\n%s", after)
	}
	if strings.Contains(after, "spine-01/1 (") {
		t.Errorf("a number is shown as a label:\n%s", after)
	}
}

// TestWorkList has rack, unit and label of the ends to move: from the plan, and from an ibdiagnet folder, which also
// gives the labels to all other answers.
func TestWorkList(t *testing.T) {
	folder := labelledFolder(t)
	plan := writeFile(t, "plan.csv", "node,port,node,port,rack,unit,rack,unit\nleaf-01,sw2p1,spine-02,1,R1,20,R9,1\n")
	out, err := on(t, "ibdiagnet:"+folder, "check cabling "+plan+" scope=spine-02; show ports leaf-01")
	if err == nil {
		t.Error("a wrong cable is no fault")
	}
	wants := []string{"leaf-01/3 (1/2/1), rack R1 unit 20", "spine-02/1, rack R9 unit 1", "leaf-01/4 (1/2/2)"}
	for _, w := range wants {
		if !strings.Contains(out, w) {
			t.Errorf("no %q:\n%s", w, out)
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	out, err = on(t, "ibdiagnet:"+folder, "dump ibdiagnet "+again)
	if err != nil {
		t.Fatal(err, out)
	}
	for _, source := range []string{folder, again} {
		out, err := on(t, "ibdiagnet:"+source, "show links leaf-01")
		if err != nil || !strings.Contains(out, "leaf-01/4 (1/2/2)") {
			t.Errorf("%s: %v:\n%s", source, err, out)
		}
	}
}
