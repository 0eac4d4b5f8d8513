// SPDX-License-Identifier: Apache-2.0

package ibnet

import "fmt"

// asymmetric lists the nets with links whose ends enable different rates. When a subnet manager sets up such a port,
// ibsim runs the link at the best rate of that end, and changes it with every end.
var asymmetric = map[string]bool{
	"rates by options": true, "rates of routers by options": true, "rates by comments": true,
}

// differing lists the nets whose ibnetdiscover output depends on the reading: ibsim ignores the LID of a router, and
// expects FDR10 from both ends.
var differing = map[string]bool{
	"rates by comments": true, "the same rates by both ends": true,
	"parts, a router, an adapter behind an adapter": true,
}

// nets are made by hand with features that the shared fabrics do not have. ibsim reads all of them.
var nets = map[string]string{
	"two ports, parallel cables, a loop": `
Switch	8 "Switch1"
[1]	"Hca1"[1]
[2]	"Hca2"[2]
[3]	"Switch2"[3]
[4]	"Switch2"[4]
[7]	"Switch1"[8]
[8]	"Switch1"[7]

Switch 8 "Switch2"
[3]	"Switch1"[3]
[4]	"Switch1"[4]
[6]	"Hca1"[2]

Hca	2 "Hca1"
[1]	"Switch1"[1]
[2]	"Switch2"[6]

Hca	2 "Hca2"
[2]	"Switch1"[2]
`,
	"GUID lines, IDs and what lasts": `
switchguids=0x0002c90000000100
hcaguids=0x0002c90000001000
vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c90000000fff

Switch 4 "A"
[1] "B"[1]
[2] "H1"

Switch 4 "B"
[1] "A"[1]
[2] "H2"
[3] "H3"

hcaguids+0x100

Hca 1 "H1"
[1] "A"[2]

hcaguids+0x10
sysimgguid=7

Hca 1 "H2"
[1] "B"[2]

Hca 1 "H3"
[1] "B"[3]
`,
	"modules and aliases": `
module="left"
Switch 8 "S"
@[8] "up"
[1] "H"[1]

Hca 1 "H"
[1] "S"

module="right"
Switch 8 "S"
[8] "left@up"
[1] "H"[1]
[2] "left2#H"

Hca 1 "H"
[1] "S"[1]

module="left2"
Hca 1 "H"
[1] "right#S"[2]
`,
	"rates by options": `
width=3
speed=7
extspeed=7
Switch 36 "S"
[1] "H1"[1]
[2] "H2"[1]	w=1
[3] "H3"[1]	s=3
[4] "H4"[1]	e=1
[5] "H5"[1]	w=16 s=1 e=0
[6] "H6"[1]	w=12
[7] "H7"[1]	w=4

width=31
Hca 1 "H1"
[1] "S"[1]

Hca 1 "H2"
[1] "S"[2]

Hca 1 "H3"
[1] "S"[3] e=0

Hca 1 "H4"
[1] "S"[4]

Hca 1 "H5"
[1] "S"[5]

Hca 1 "H6"
[1] "S"[6]

width=7
Hca 1 "H7"
[1] "S"[7] e=3
`,
	"rates of routers by options": `
width=3
speed=7
Switch 8 "S"
[1] "R1"[1] # "r" lid 0 4xFDR
[2] "R2"[1] s=1 e=1
[3] "R3"[1] w=1

rtguid=0x300000
Rt 1 "R1"
[1] "S"[1] e=3 # lid 0 lmc 0 "S" lid 0 4xEDR

extspeed=7
Rt 1 "R2"
[1] "S"[2] e=0

Rt 1 "R3"
[1] "S"[3] w=11 s=1 e=0
`,
	"rates by comments":           rates(fittingWords),
	"the same rates by both ends": rates(sameWord),
	"lines that are lost": `
vendid=0x111
sysimgguid=0x99
Switch 2 "A"
[1] "B"[1]
vendid=0x222
devid=0x333

Switch 1 "B"
[1] "A"[1]
vendid=0x444
sysimgguid=0x55
Switch 1 "C"

`,
	"parts, a router, an adapter behind an adapter": `
Switch 4 "S"
[1] "H1"[1]
[2] "R"[1]
[3] "H2"[1]

Ca 2 "H1"
[1] "S"[1]
[2] "H2"[2]

Ca 3 "H2"
[1] "S"[3]
[2] "H1"[2]
[3] "H3"[1]

Ca 1 "H3"
[1] "H2"[3]

rtguid=0x300000
Rt 2 "R"		# "a router"
[1] "S"[2]	# lid 9 lmc 0 "S" lid 8 4xQDR
[2] "S2"[1]

Switch 4 "S2"
[1] "R"[2]	# "a router" lid 9 4xQDR
[2] "H4"[1]

Ca 1 "H4"
[1] "S2"[2]
`,
	"two adapters": `
Ca 1 "H1"
[1] "H2"[2]

Ca 2 "H2"
[2] "H1"[1]
`,
	"LIDs": `
Switch	4 "S1"		# "first" enhanced port 0 lid 17 lmc 0
[1]	"S2"[1]		# "second" lid 300 4xQDR
[2]	"H1"[1](5) 		# "h1" lid 8 4xQDR

Switch	4 "S2"		# second base port 0 lid 300 lmc 0
[1]	"S1"[1]		# "first" lid 17 4xQDR
[2]	"H2"[1]		# "h2" lid 0 4xQDR
[3]	"H3"[1]		# "h3" lid 7 4xQDR

Ca	1 "H1"		# "h1"
[1](5) 	"S1"[2]		# lid 8 lmc 0 "first" lid 17 4xQDR

Ca	1 "H2"		# "h2"
[1](5) 	"S2"[2]		# lid 0 lmc 0 "second" lid 300 4xQDR

Ca	1 "H3"		# "h3"
[1](5) 	"S2"[3]		# lid 0x7 lmc 0 "second" lid 300 4xQDR
`,
	"names": "Switch 9 \"S\" # \"a \\\"quoted\\\" name\" base port 0 lid 3 lmc 0\n" +
		"[1] \"H1\"\n[2] \"H2\"\n[3] \"H3\"\n[4] \"H4\"\n[5] \"H5\"\n[6] \"H6\"\n[7] \"H7\"\n[8] \"" + long + "\"\n\n" +
		"Ca 1 \"H1\" # \"\x1b[31mred\x1b[0m\"\n[1] \"S\"[1]\n\n" +
		"Ca 1 \"H2\" # \"br{a}ce} LID:0001 PN:01\"\n[1] \"S\"[2]\n\n" +
		"Ca 1 \"H3\" # \"grün \u202e\xff\"\n[1] \"S\"[3]\n\n" +
		"Ca 1 \"H4\" # \"" + long + "\"\n[1] \"S\"[4]\n\n" +
		"Ca 1 \"H5\" #   unquoted name here lid 5 and more\n[1] \"S\"[5]\n\nCa 1 \"H6\" # \"\"\n[1] \"S\"[6]\n\nCa 1 " +
		"\"H7\" # unquoted to the end\n[1] \"S\"[7]\n\nCa 1 \"" + long + "\"\n[1] \"S\"[8]\n",
	"a terminal's text around it": "\ufeff[root@node ~]# ibnetdiscover\r\n#\r\n# Topology file: " +
		"found\r\n\r\nvendid=0x2c9\r\nSwitch\t4 \"S\"\t\t# \"sw\" base port 0 lid 0 lmc 0\r\n# a comment " +
		"within\r\n[1]\t\"H\"[1](2)\t\t# \"h\" lid 0 4xQDR\r\n\r\n$ date\r\nThu\r\n\r\nCa\t1 \"H\"\t\t# " +
		"\"h\"\r\n[1](2)\t\"S\"[1]\t\t# lid 0 lmc 0 \"sw\" lid 0 4xQDR\r\n[root@node ~]# exit",
}

// long exceeds ibsim's lengths of ids and descriptions.
const long = "0123456789abcdefghijklmnopqrstuvwxyz-0123456789abcdefghijklmnopqrstuvwxyz"

// words are rates that ibnetdiscover may print, and invalid ones.
var words = []string{
	"4xSDR", "4xDDR", "4xQDR", "4xFDR10", "4xFDR", "4xEDR", "4xHDR", "4xNDR", "1xHDR", "2xHDR", "8xQDR", "12xDDR",
	"4x???", "??QDR", "4xF", "9xQDR",
}

// rates returns a switch with a link to an adapter for each pair of words at its two ends. The second half of the
// adapters are devices that are asked for FDR10.
func rates(together func(near, far string) bool) string {
	top, bottom, port := []byte("devid=0xd2f0\nSwitch 254 \"S\"\n"), []byte("\n"), 0
	for _, device := range []int{0x6274, 0x1017} {
		for _, far := range words {
			for _, near := range words {
				if !together(near, far) || port == 254 {
					continue
				}
				port++
				top = fmt.Appendf(top, "[%d] \"H%d\"[1] # \"h\" lid 0 %s\n", port, port, near)
				bottom = fmt.Appendf(bottom, "devid=%d\nCa 1 \"H%d\"\n[1] \"S\"[%d] # lid 0 lmc 0 \"S\" lid 0 %s\n\n",
					device, port, port, far)
			}
		}
	}
	return string(top) + string(bottom)
}

func sameWord(near, far string) bool { return near == far }

// fittingWords reports whether ibsim brings the link up. The numbers of lanes must fit.
func fittingWords(near, far string) bool {
	lanes := func(s string) string {
		switch l := s[:2]; l {
		case "2x", "8x", "??", "9x":
			return l
		}
		return "1x"
	}
	return near < far && lanes(near) == lanes(far)
}
