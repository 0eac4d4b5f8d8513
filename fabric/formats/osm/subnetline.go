// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// subnetEnd holds the properties of one end of a link, as a line states them.
type subnetEnd struct {
	node fabric.Node
	guid uint64
	lid  uint16
	num  uint8
	sm   bool
}

// parse parses the text "{ SW-SM Ports:24 ... {NAME} LID:0002 PN:01 }" at the beginning of a line and returns the rest.
// The argument far is set for the second end in a line, because OpenSM misplaces its device ID.
func (e *subnetEnd) parse(line []byte, far bool) ([]byte, error) {
	line, ok := bytes.CutPrefix(line, []byte("{ "))
	if !ok {
		return nil, fmt.Errorf("%q, expected \"{ SW\", \"{ CA\" or \"{ Rt\"", shorten(line))
	}
	word, line, _ := bytes.Cut(line, []byte(" "))
	word, e.sm = bytes.CutSuffix(word, []byte("-SM"))
	if e.node.Type, ok = subnetTypes[string(word)]; !ok {
		return nil, fmt.Errorf("node type %q, expected SW, CA or Rt", shorten(word))
	}
	var num, vendor, device, revision uint64
	for _, f := range []subnetField{
		{"Ports:", 8, &num}, {"SystemGUID:", 64, &e.node.SystemGUID}, {"NodeGUID:", 64, &e.node.GUID},
		{"PortGUID:", 64, &e.guid},
		{"VenID:", 32, &vendor}, {"DevID:", 32, &device}, {"Rev:", 32, &revision},
	} {
		var err error
		if line, err = f.parse(line); err != nil {
			return nil, err
		}
	}
	if far && device > 0xffff {
		device >>= 16
	}
	if device > 0xffff {
		return nil, fmt.Errorf("device ID %X, expected at most FFFF", device)
	}
	e.node.NumPorts, e.node.VendorID, e.node.DeviceID, e.node.Revision = uint8(num), uint32(vendor), uint16(device),
		uint32(revision)
	if e.guid == 0 {
		return nil, fmt.Errorf("port GUID 0")
	}
	return e.parseName(line)
}

// parseName parses the text "{NAME} LID:0002 PN:01 } ". A name may contain braces. It ends at the first position after
// which the rest can be parsed.
func (e *subnetEnd) parseName(line []byte) ([]byte, error) {
	name, ok := bytes.CutPrefix(line, []byte("{"))
	if !ok {
		return nil, fmt.Errorf("%q, expected {NAME}", shorten(line))
	}
	var first error
	for i := 0; ; i++ {
		next := bytes.Index(name[i:], []byte("} LID:"))
		if next < 0 {
			if first == nil {
				first = fmt.Errorf("no end of the name %q, expected \"} LID:\"", shorten(name))
			}
			return nil, first
		}
		i += next
		rest, err := e.parseAddress(name[i+len("} "):])
		if err == nil {
			e.node.Desc = string(name[:i])
			return rest, nil
		}
		if first == nil {
			first = err
		}
	}
}

func (e *subnetEnd) parseAddress(line []byte) ([]byte, error) {
	var lid, num uint64
	for _, f := range []subnetField{{"LID:", 16, &lid}, {"PN:", 8, &num}} {
		var err error
		if line, err = f.parse(line); err != nil {
			return nil, err
		}
	}
	line, ok := bytes.CutPrefix(line, []byte("}"))
	if !ok {
		return nil, fmt.Errorf("%q, expected }", shorten(line))
	}
	e.lid, e.num = uint16(lid), uint8(num)
	return bytes.TrimLeft(line, " "), nil
}

// checkLID returns an error for an invalid LID, and sets the LID to 0.
func (e *subnetEnd) checkLID() error {
	lid := uint16(fabric.AssignedLID(uint64(e.lid)))
	if e.lid = lid; lid <= fabric.MaxUnicastLID {
		return nil
	}
	e.lid = 0
	return fmt.Errorf("LID %d, expected at most %d", lid, fabric.MaxUnicastLID)
}

// differs returns the name of a property that an earlier line states differently for the node. It returns "" if all
// properties are the same.
func (e *subnetEnd) differs(n *fabric.Node) string {
	switch {
	case n.Type != e.node.Type:
		return "type"
	case n.NumPorts != e.node.NumPorts:
		return "number of ports"
	case n.SystemGUID != e.node.SystemGUID:
		return "system GUID"
	case n.VendorID != e.node.VendorID:
		return "vendor ID"
	case n.DeviceID != e.node.DeviceID:
		return "device ID"
	case n.Revision != e.node.Revision:
		return "revision"
	case n.Desc != e.node.Desc:
		return "name"
	}
	return ""
}

// subnetField is a word such as "LID:0002". The number is hexadecimal and has at most bits bits.
type subnetField struct {
	name string
	bits int
	v    *uint64
}

// parse parses the field and the spaces after it at the beginning of a line. It returns the rest of the line.
func (f subnetField) parse(line []byte) ([]byte, error) {
	value, ok := bytes.CutPrefix(line, []byte(f.name))
	if !ok {
		return nil, fmt.Errorf("%q, expected %s", shorten(line), f.name)
	}
	v, rest, ok := parseHex(value, f.bits)
	if !ok || !bytes.HasPrefix(rest, []byte(" ")) {
		return nil, fmt.Errorf("%s%q, expected a hexadecimal number of %d bits", f.name, shorten(value), f.bits)
	}
	*f.v = v
	return bytes.TrimLeft(rest, " "), nil
}

var subnetTypes = map[string]mad.NodeType{"SW": mad.NodeSwitch, "CA": mad.NodeCA, "Rt": mad.NodeRouter}

type subnetRate struct {
	width fabric.Width
	speed fabric.Speed
	state mad.PortState
}

// parseSubnetRate parses a text such as "PHY=4x LOG=ACT SPD=10".
func parseSubnetRate(line []byte) (subnetRate, error) {
	var r subnetRate
	words := bytes.Fields(line)
	if len(words) != 3 {
		return r, fmt.Errorf("%q, expected PHY=WIDTH LOG=STATE SPD=SPEED", shorten(line))
	}
	var ok bool
	for i, take := range []func(string) bool{
		func(s string) bool { r.width, ok = subnetWidths[s]; return ok },
		func(s string) bool { r.state, ok = subnetStates[s]; return ok },
		func(s string) bool { r.speed, ok = subnetSpeeds[s]; return ok },
	} {
		name := [...]string{"PHY=", "LOG=", "SPD="}[i]
		value, found := bytes.CutPrefix(words[i], []byte(name))
		if !found || !take(string(value)) {
			return r, fmt.Errorf("%q, expected %s with %s", shorten(words[i]), name, [...]string{
				"1x, 2x, 4x, 8x, 12x or ??", "ACT, ARM, INI or DWN",
				"2.5, 5, 10, FDR10, 14, 25, 50, 100, 200 or ??"}[i])
		}
	}
	return r, nil
}

var subnetWidths = map[string]fabric.Width{"1x": 1, "2x": 2, "4x": 4, "8x": 8, "12x": 12, "??": 0}

var subnetStates = map[string]mad.PortState{"ACT": mad.PortActive, "ARM": mad.PortArmed, "INI": mad.PortInit,
	"DWN": mad.PortDown}

// subnetSpeeds maps the words for speeds to speeds. It also has ibdiagnet's words for speeds above HDR.
var subnetSpeeds = map[string]fabric.Speed{
	"2.5": fabric.SDR, "5": fabric.DDR, "10": fabric.QDR, "FDR10": fabric.FDR10, "14": fabric.FDR,
	"25": fabric.EDR, "50": fabric.HDR, "100": fabric.NDR, "200": fabric.XDR, "??": fabric.SpeedUnknown,
}
