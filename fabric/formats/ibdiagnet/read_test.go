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
		if f.Nodes[0].Desc != "leaf, left" || p.GUID != 0x21 || p.Speed != fabric.NDR || p.Width != 4 || f.SMPort != f.PortByLID(7) || f.SwitchLID(0) != 3 {
			t.Errorf("%s: %+v", name, p)
		}
		if (found.Count > 0) != (name != "whole") {
			t.Errorf("%s: %v", name, found.Findings)
		}
	}
}
