// SPDX-License-Identifier: Apache-2.0

package ibdiagnet_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/unread"
)

const db = `START_NODES
NewColumn,NodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID
N/A,"leaf, left",2,2,0x10,0x10
N/A,"host mlx5_0",1,1,0x20,0x20
END_NODES
START_PORTS
NodeGuid,PortGuid,PortNum,MKey,LID,LMC,MSMLID,PortState,LinkWidthActv,LinkSpeedActv
0x10,0x10,0,0xfeed,3,0,7,0,0,0
0x10,0x10,1,0xfeed,0,0,0,4,2,2052
0x20,0x21,1,0xfeed,7,0,7,4,2,2052
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x10,1,0x20,1
END_LINKS
`

func TestReadDB(t *testing.T) {
	for name, text := range map[string]string{"whole": db, "without its first line": db[len("START_NODES\n"):]} {
		var found unread.List
		db, err := ibdiagnet.ReadDB(t.Context(), strings.NewReader(text), "db", &found)
		if err != nil {
			t.Fatal(name, err)
		}
		f := db.Fabric
		p := f.Ports[f.PortByLID(7)]
		if f.Nodes[0].Desc != "leaf, left" || p.GUID != 0x21 || p.Speed != fabric.NDR || p.Width != 4 ||
			f.SMPort != f.PortByLID(7) || f.SwitchLID(0) != 3 {
			t.Errorf("%s: %+v", name, p)
		}
		if (found.Count > 0) != (name != "whole") {
			t.Errorf("%s: %v", name, found.Findings)
		}
	}
}

// The other sections of a database without its head are read. Nodes that are not in NODES are those with ports, and
// those with a port 0 are switches.
func TestHeadCut(t *testing.T) {
	for _, c := range []struct {
		cut  string
		desc string
		want string
	}{
		{"NewColumn", "leaf, left",
			"the beginning of the file is missing, so the first rows of section NODES are missing"},
		{`N/A,"leaf`, "", "the columns of section NODES are missing"},
		{"END_NODES", "", "2 nodes are known only from rows of ports"},
	} {
		var found unread.List
		read, err := ibdiagnet.ReadDB(t.Context(), strings.NewReader(db[strings.Index(db, c.cut):]), "db", &found)
		if err != nil {
			t.Fatal(c.cut, err)
		}
		f := read.Fabric
		sw := f.NodeByGUID(0x10)
		if !f.Nodes[sw].IsSwitch() || f.Nodes[sw].Desc != c.desc || len(f.Links()) != 1 ||
			f.PortByLID(7) == fabric.None || f.Nodes[f.NodeByGUID(0x20)].IsSwitch() {
			t.Errorf("%s: %+v", c.cut, f.Nodes)
		}
		var text string
		for _, x := range found.Findings {
			text += x.Error() + "\n"
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.cut, text)
		}
	}
	if _, err := ibdiagnet.ReadDB(t.Context(), strings.NewReader(db[20:]), "db", nil); err == nil {
		t.Error("a strict reader accepts a file without its head")
	}
}

// A malformed row does not bring an M_Key into a message.
func TestSlippedRow(t *testing.T) {
	var found unread.List
	text := strings.Replace(db, "0x20,0x21,1,0xfeed", "0x20,0x21,0xfeedfeed,1", 1)
	if _, err := ibdiagnet.ReadDB(t.Context(), strings.NewReader(text), "db", &found); err != nil {
		t.Fatal(err)
	}
	if found.Count == 0 {
		t.Error("no finding for the row")
	}
	for _, x := range found.Findings {
		if strings.Contains(x.Error(), "feed") {
			t.Error(x)
		}
	}
}
