// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/gen"
)

// fuzz reads a text that begins with a heading, and compares a subnet with the plan. Errors must name the file.
func fuzz(f *testing.F, heading string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	lib := new(Library)
	if err := lib.Add(context.Background(), strings.NewReader(director), "DIR.ibnl"); err != nil {
		f.Fatal(err)
	}
	subnet, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read(strings.NewReader(heading+text), "plan", lib)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "plan:") {
				t.Errorf("the error names no file: %v", err)
			}
			return
		}
		for _, c := range p.Cables {
			for _, e := range c.Ends {
				if c.Line == 0 || e.Device == "" || (e.Num == 0) == (e.Label == "" && e.Unmapped == "") {
					t.Errorf("%+v", c)
				}
			}
		}
		res, err := cabling.Compare(subnet, p, cabling.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Compared+len(res.Unmatched)+res.Repeated != len(p.Cables) {
			t.Errorf("%d compared, %d unmatched, %d repeated of %d", res.Compared, len(res.Unmatched), res.Repeated,
				len(p.Cables))
		}
	})
}

func FuzzNDT(f *testing.F) {
	fuzz(f, shortHeading, "leaf-1,Port 1,host-1,host-1 HCA-1,Data\n", "a,Blade 1_Port 1/1,b,Port 1/2/3,Data\n")
}

func FuzzP2P(f *testing.F) {
	fuzz(f, "A-Node Name,A-Port,Z-Node Name,Z-Port\n", "leaf-1,1,host-1,1\n", "a,1/3,b,sw1p2\n")
}

func FuzzCSV(f *testing.F) { fuzz(f, "", "leaf-1,1,host-1,1,HDR,4x\n", "a,1/3,b,\"x\"\n") }

func FuzzYAML(f *testing.F) {
	fuzz(f, "cables:\n", "- [leaf-1, 1, host-1, 1]\n", "- {a: x, ap: 1, b: y, bp: 2, speed: HDR}\n", "- &x [*x]\n")
}

func FuzzTopo(f *testing.F) {
	fuzz(f, "DIR d1\n", " L1/P1 -4x-10G-> HCA n1 P1\n", " L1/P1 -> DIR d1 L1/P3\n\nX y\n P1 -> X z P2\n")
}

func FuzzIBNL(f *testing.F) {
	f.Add(director)
	f.Add("SYSTEM A\nSUBSYSTEM A x\nP1 -> P1\nTOPSYSTEM T\nSUBSYSTEM A x\nP1 -> P1\n")
	f.Fuzz(func(t *testing.T, text string) {
		lib := new(Library)
		if err := lib.Add(t.Context(), strings.NewReader(text), "x.ibnl"); err != nil {
			if !strings.HasPrefix(err.Error(), "x.ibnl:") {
				t.Errorf("the error names no file: %v", err)
			}
			return
		}
		for name, s := range lib.systems {
			for port := range s.panel {
				if known, _, num := lib.find(name, port); !known || num > maxPort {
					t.Errorf("%s %s: %v %d", name, port, known, num)
				}
			}
		}
	})
}
