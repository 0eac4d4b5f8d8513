// SPDX-License-Identifier: Apache-2.0

package linkinfo

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// side holds the properties of one of the two ports in a row. A property that the row lacks is 0. The type of a node
// may be unknown.
type side struct {
	typ  mad.NodeType
	guid uint64
	lid  uint16
	port int
	name string
	// section is the number of the node's section, 0 if the format has no sections.
	section int
}

const unknown mad.NodeType = 0

// row is a line of the file.
type row struct {
	line      int
	near, far side
	// linked is set if there is a far side.
	linked bool
	width  fabric.Width
	speed  fabric.Speed
	state  mad.PortState
}

var errRow = errors.New("expected a line of ibnetdiscover -p or iblinkinfo")

// The formats of lines in infiniband-diags 44: a line of ibnetdiscover -p, a line of iblinkinfo -l, a port line of
// iblinkinfo, and the line before the ports of a node. With -p, iblinkinfo adds the settings of a port to its state.
var (
	ports = regexp.MustCompile(
		`^(SW|CA|RT) +(\d+) +(\d+) 0x([0-9a-fA-F]{1,16}) +(\S+) (\S+)` +
			`(?: - (SW|CA|RT) +(\d+) +(\d+) 0x([0-9a-fA-F]{1,16}) \( '(.*?)' - '(.*)' \)| +'(.*)')$`)
	line    = regexp.MustCompile(`^0x([0-9a-fA-F]{1,16}) "(.*?)" +(\d+) +(\d+)\[[^]]*\] ==\((.*?)\)==> +(.*)$`)
	port    = regexp.MustCompile(`^(?:0x([0-9a-fA-F]{1,16}) +)?(\d+) +(\d+)\[[^]]*\] ==\((.*?)\)==> +(.*)$`)
	section = regexp.MustCompile(`^(?:Switch: 0x([0-9a-fA-F]{1,16}) (.*)|(CA|Router): (.*)):$`)
	farEnd  = regexp.MustCompile(`^(?:0x([0-9a-fA-F]{1,16}) +)?(\d+) +(\d+)\[[^]]*\] "(.*)" \(.*$`)
	noEnd   = regexp.MustCompile(`^\[[^]]*\] "" \(.*$`)
	rate    = regexp.MustCompile(`^ *(?:(\d+)X +([0-9.]+ Gbps(?: \(FDR10\))?|\S.*?) +)?([A-Za-z]+)/ *([A-Za-z]+) *` +
		`(?:\) \(HOQ:.*)?$`)
)

var types = map[string]mad.NodeType{
	"SW": mad.NodeSwitch, "CA": mad.NodeCA, "RT": mad.NodeRouter, "Router": mad.NodeRouter,
}

var gbps = map[string]fabric.Speed{
	"2.5 Gbps": fabric.SDR, "5.0 Gbps": fabric.DDR, "10.0 Gbps": fabric.QDR, "10.0 Gbps (FDR10)": fabric.FDR10,
	"14.0625 Gbps": fabric.FDR, "25.78125 Gbps": fabric.EDR, "53.125 Gbps": fabric.HDR, "106.25 Gbps": fabric.NDR,
	"212.5 Gbps": fabric.XDR,
}

var states = map[string]mad.PortState{"Down": mad.PortDown, "Init": mad.PortInit, "Armed": mad.PortArmed,
	"Active": mad.PortActive}

// portsRow parses a line of ibnetdiscover -p. If there is an error, the row has the properties that were read.
func portsRow(m []string) (row, error) {
	r := row{linked: m[7] != "", width: widthOf(strings.TrimSuffix(m[5], "x"))}
	r.speed, _ = fabric.ParseSpeed(m[6])
	var near, far error
	r.near, near = sideOf(types[m[1]], m[4], m[2], m[3], m[11]+m[13])
	if r.linked {
		r.far, far = sideOf(types[m[7]], m[10], m[8], m[9], m[12])
	}
	return r, cmp.Or(near, far)
}

// link parses the text after the numbers in a port line of iblinkinfo.
func (r *row) link(rateText, far string) error {
	m := rate.FindStringSubmatch(rateText)
	if m == nil {
		return fmt.Errorf("bad rate and state %q, expected text like ( 4X 25.78125 Gbps Active/  LinkUp)", rateText)
	}
	r.width, r.speed, r.state = widthOf(m[1]), gbps[m[2]], states[m[3]]
	if noEnd.MatchString(far) {
		return nil
	}
	f := farEnd.FindStringSubmatch(far)
	if f == nil {
		return fmt.Errorf("bad far end %s, expected LID PORT[  ] \"NAME\" ( )", fabric.Escape(strconv.Quote(far)))
	}
	var err error
	r.linked = true
	r.far, err = sideOf(unknown, f[1], f[2], f[3], f[4])
	return err
}

func widthOf(lanes string) fabric.Width {
	n, err := strconv.ParseUint(lanes, 10, 8)
	if w := fabric.Width(n); err == nil && w.String() == lanes+"x" {
		return w
	}
	return 0
}

// sideOf parses the properties of a port. If there is an error, the result has the properties that were read.
func sideOf(typ mad.NodeType, guid, lid, num, name string) (side, error) {
	s := side{typ: typ, name: name}
	s.guid, _ = strconv.ParseUint(guid, 16, 64)
	n, err := strconv.ParseUint(num, 10, 8)
	if err != nil || n < 1 || n > maxPorts {
		return s, fmt.Errorf("bad port %q, expected a number from 1 to %d", num, maxPorts)
	}
	s.port = int(n)
	l, err := strconv.ParseUint(lid, 10, 64)
	if l = fabric.AssignedLID(l); err != nil || l > fabric.MaxUnicastLID {
		return s, fmt.Errorf("LID %s, expected at most %d", lid, fabric.MaxUnicastLID)
	}
	s.lid = uint16(l)
	return s, nil
}
