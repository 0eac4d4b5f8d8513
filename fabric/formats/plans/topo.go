// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
)

// listWords is the number of words in a line of a cabling list: type, name and port of both ends.
const listWords = 6

var (
	topoSystem = regexp.MustCompile(`^([^\s/]+)\s+([^\s/]+)(?:\s+CFG:.*)?$`)
	topoCable  = regexp.MustCompile(`^(\S+)\s+-(?:(\d+)x-)?(?:([\d.]+)G-)?>\s+(\S+)\s+(\S+)\s+(\S+)$`)
)

// laneSpeeds maps the rate of a lane in Gb/s to the speed.
var laneSpeeds = map[string]fabric.Speed{
	"2.5": fabric.SDR, "5": fabric.DDR, "10": fabric.QDR, "14": fabric.FDR, "25": fabric.EDR, "50": fabric.HDR,
	"100": fabric.NDR, "200": fabric.XDR,
}

// topoEnd is an end as a .topo file names it.
type topoEnd struct{ device, name, port string }

// topoReader reads a .topo file. A cable may be written at one end or at both.
type topoReader struct {
	p     *cabling.Plan
	lib   *Library
	types map[string]string // by system
	peers map[topoEnd]topoEnd
	lines map[topoEnd]int
}

// readTopo reads a topology file of ibutils, or a cabling list.
func readTopo(p *cabling.Plan, all []byte, lib *Library, isList bool) error {
	t := &topoReader{p, lib, map[string]string{}, map[topoEnd]topoEnd{}, map[topoEnd]int{}}
	p.Format = "topology file (.topo)"
	if isList {
		p.Format = "cabling list"
	}
	var kind, system string
	line := 0
	for raw := range bytes.Lines(all) {
		line++
		text := strings.TrimSpace(string(raw))
		switch {
		case text == "" || raw[0] == '#':
			if text == "" {
				kind, system = "", ""
			}
		case isList:
			w := strings.Fields(text)
			if len(w) != listWords {
				return refuse(p, line, "%d words, expected TYPE NAME PORT TYPE NAME PORT", len(w))
			}
			if err := t.cable(line, topoEnd{w[0], w[1], w[2]}, topoEnd{w[3], w[4], w[5]}, cabling.Kind{}); err != nil {
				return err
			}
		case raw[0] != ' ' && raw[0] != '\t':
			m := topoSystem.FindStringSubmatch(text)
			if m == nil && len(t.types) == 0 {
				return refuse(p, line, "%q, %s", cut(text), expected)
			} else if m == nil {
				return refuse(p, line, "%q, expected TYPE NAME of a system", cut(text))
			}
			kind, system = m[1], m[2]
			if err := t.system(line, kind, system); err != nil {
				return err
			}
		default:
			m := topoCable.FindStringSubmatch(text)
			if m == nil || system == "" {
				return refuse(p, line, "%q, expected PORT -> TYPE NAME PORT below a line TYPE NAME", cut(text))
			}
			k, err := topoKind(m[2], m[3])
			if err != nil {
				return refuse(p, line, "%v", err)
			}
			if err := t.cable(line, topoEnd{kind, system, m[1]}, topoEnd{m[4], m[5], m[6]}, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut shortens a line for an error.
func cut(text string) string { return text[:min(len(text), 60)] }

func topoKind(width, speed string) (k cabling.Kind, err error) {
	if width != "" {
		err = setWidth(&k, width)
	}
	if speed != "" && err == nil {
		var ok bool
		if k.Speed, ok = laneSpeeds[speed]; !ok {
			err = fmt.Errorf("speed %sG, expected 2.5G, 5G, 10G, 14G, 25G, 50G, 100G or 200G", speed)
		}
	}
	return k, err
}

// system records the type of a system.
func (t *topoReader) system(line int, kind, name string) error {
	if was, ok := t.types[name]; ok && was != kind {
		return refuse(t.p, line, "system %s has the type %s, expected %s as before", fabric.Escape(name),
			fabric.Escape(kind), fabric.Escape(was))
	}
	t.types[name] = kind
	return nil
}

// cable adds a cable, unless the file has it already at the other end.
func (t *topoReader) cable(line int, a, b topoEnd, kind cabling.Kind) error {
	for _, e := range []topoEnd{a, b} {
		if err := t.system(line, e.device, e.name); err != nil {
			return err
		}
	}
	for _, pair := range [2][2]topoEnd{{a, b}, {b, a}} {
		if was, ok := t.peers[pair[0]]; ok && was != pair[1] {
			return refuse(t.p, line, "port %s of %s leads to %s %s, but line %d has another cable there",
				fabric.Escape(pair[0].port), fabric.Escape(pair[0].name), fabric.Escape(pair[1].name),
				fabric.Escape(pair[1].port), t.lines[pair[0]])
		}
	}
	if _, ok := t.peers[a]; ok {
		return nil
	}
	t.peers[a], t.peers[b], t.lines[a], t.lines[b] = b, a, line, line
	cable := cabling.Cable{Line: line, Kind: kind}
	for i, e := range []topoEnd{a, b} {
		if err := t.end(&cable.Ends[i], e); err != nil {
			return refuse(t.p, line, "%v", err)
		}
	}
	t.p.Cables = append(t.p.Cables, cable)
	return nil
}

var (
	panelPort = regexp.MustCompile(`^(?:[A-Za-z]\w*/)?P(\d+)$`)
	leafPort  = regexp.MustCompile(`^(L\d+)/P(\d+)$`)
)

// end maps the port of a front panel to a switch and its port, by the library or by the usual names: P3 is port 3, and
// L2/P3 is port 3 of leaf board 2.
func (t *topoReader) end(e *cabling.End, from topoEnd) (err error) {
	if err := setDevice(e, from.name); err != nil {
		return err
	}
	e.Port = from.port
	known, board, num := t.lib.find(from.device, from.port)
	switch {
	case num > 0:
		e.Board, e.Num = board, num
		return nil
	case known:
		e.Unmapped = fmt.Sprintf("the IBNL file of %s has no port %s", fabric.Escape(from.device),
			fabric.Escape(from.port))
		return nil
	}
	if m := leafPort.FindStringSubmatch(from.port); m != nil {
		e.Board = m[1]
		e.Num, err = portNumber(m[2])
	} else if m := panelPort.FindStringSubmatch(from.port); m != nil {
		e.Num, err = portNumber(m[1])
	} else {
		e.Unmapped = fmt.Sprintf("the port names of %s are not known; hint: give its IBNL files with ibnl=DIR",
			fabric.Escape(from.device))
	}
	return err
}
