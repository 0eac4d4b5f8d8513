// SPDX-License-Identifier: Apache-2.0

// Package plans reads and writes cabling plans:
//
//   - the NDT of UFM (network design table, CSV),
//   - topology files of ibutils and ibdiagnet (.topo), with port names from IBNL files, and the older cabling list,
//   - the P2P table of NVIDIA's Cable Validation Tool, as CSV,
//   - an own CSV with the columns node, port, node, port, and an own YAML with a list of cables.
package plans

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/internal/base/files"
)

const expected = "expected a cabling plan: the NDT of UFM, a .topo file, a P2P table as CSV, a CSV of " +
	"node,port,node,port, or YAML with a list of cables"

// ReadFile reads a plan from a file. See [Read].
func ReadFile(ctx context.Context, path string, lib *Library) (*cabling.Plan, error) {
	return files.Parse(ctx, path, files.List, func(r io.Reader, name string) (*cabling.Plan, error) {
		return Read(r, name, lib)
	})
}

// Read reads a plan and detects the format from the content. The argument file identifies the file in errors. An error
// names the line and what was expected. The library has the port names of a .topo file. It may be nil.
func Read(r io.Reader, file string, lib *Library) (*cabling.Plan, error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	all = bytes.TrimPrefix(all, []byte("\ufeff"))
	switch {
	case bytes.HasPrefix(all, []byte("PK\x03\x04")):
		return nil, fmt.Errorf("%s: an Excel workbook (.xlsx), expected CSV; hint: export the sheet as CSV", file)
	case bytes.IndexByte(all, 0) >= 0:
		return nil, fmt.Errorf("%s: binary data, %s", file, expected)
	}
	p := &cabling.Plan{File: file}
	switch f := formatOf(all); f {
	case none:
		return nil, fmt.Errorf("%s: empty, %s", file, expected)
	case yamlList:
		err = readYAML(p, all)
	case topo, cablingList:
		err = readTopo(p, all, lib, f == cablingList)
	default:
		err = readTable(p, all, tables[f])
	}
	if err != nil {
		return nil, err
	}
	if len(p.Cables) == 0 {
		return nil, fmt.Errorf("%s: no cable, %s", file, expected)
	}
	return p, nil
}

// format is a format of plans.
type format int

const (
	none format = iota
	ndt
	p2p
	ownCSV
	yamlList
	topo
	cablingList
)

// formatOf detects the format. The heading of an NDT may look like a comment. A heading may follow other lines, such as
// a title.
func formatOf(all []byte) format {
	for line := range bytes.Lines(all) {
		text := strings.ToLower(string(line))
		switch {
		case strings.Contains(text, "startdevice") && strings.Contains(text, "enddevice"):
			return ndt
		case strings.Contains(text, "a-port") && strings.Contains(text, "z-port"):
			return p2p
		}
	}
	for line := range bytes.Lines(all) {
		text := strings.ToLower(string(bytes.TrimSpace(line)))
		switch {
		case text == "" || text[0] == '#':
		case text == "-", strings.HasPrefix(text, "cables:"), strings.HasPrefix(text, "- "),
			strings.HasPrefix(text, "---"), text[0] == '[', text[0] == '{':
			return yamlList
		case strings.Contains(text, ","):
			return ownCSV
		case len(strings.Fields(text)) == listWords:
			return cablingList
		default:
			return topo
		}
	}
	return none
}

// refuse returns an error about a line.
func refuse(p *cabling.Plan, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.File, line, fmt.Sprintf(format, args...))
}

const maxPort = 254

// portNumber parses a port number.
func portNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPort {
		return 0, fmt.Errorf("port %s, expected 1 to %d", fabric.Escape(text), maxPort)
	}
	return n, nil
}

// setDevice sets the device of an end. A device 0x... is a GUID.
func setDevice(e *cabling.End, text string) (err error) {
	e.Device = text
	if strings.HasPrefix(text, "0x") {
		if e.GUID, err = strconv.ParseUint(text[2:], 16, 64); err != nil || e.GUID == 0 {
			return fmt.Errorf("device %q, expected a name, or a GUID of 0x and up to 16 digits", text)
		}
	}
	return nil
}

var (
	plainPort = regexp.MustCompile(`^(?:IB )?Port (\d+)$`)
	bladePort = regexp.MustCompile(`^Blade (\d+)_Port (\d+)/(\d+)$`)
	labelPort = regexp.MustCompile(`^Port (\S+)$`)
)

// setPort sets the port of an end from the forms of an NDT. The device must be set.
func setPort(e *cabling.End, text string) (err error) {
	e.Port = text
	if m := plainPort.FindStringSubmatch(text); m != nil {
		e.Num, err = portNumber(m[1])
	} else if m := bladePort.FindStringSubmatch(text); m != nil {
		e.Board = fmt.Sprintf("L%s/U%s", m[1], m[2])
		e.Num, err = portNumber(m[3])
	} else if m := labelPort.FindStringSubmatch(text); m != nil {
		e.Label = m[1]
	} else if rest, ok := strings.CutPrefix(strings.ToUpper(text), strings.ToUpper(e.Device)+" "); ok && rest != "" {
		e.Adapter, e.Num = text, 1
	} else {
		return fmt.Errorf("port %q, expected \"Port N\", \"Blade L_Port U/N\", \"Port ASIC/CAGE/PORT\" or the "+
			"description of a host's adapter", text)
	}
	return err
}

// setOwnPort is [setPort] that also accepts a number, or a label alone.
func setOwnPort(e *cabling.End, text string) (err error) {
	if _, bad := strconv.Atoi(text); bad == nil {
		e.Port = text
		e.Num, err = portNumber(text)
		return err
	}
	if setPort(e, text) == nil {
		return nil
	}
	if text == "" || strings.ContainsAny(text, " \t") {
		return fmt.Errorf("port %q, expected a number or the label of a port", text)
	}
	e.Label = text
	return nil
}

// setSpeed sets a speed such as HDR.
func setSpeed(k *cabling.Kind, text string) error {
	speed, ok := fabric.ParseSpeed(strings.ToUpper(text))
	if !ok {
		return fmt.Errorf("speed %q, expected SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR", text)
	}
	k.Speed = speed
	return nil
}

// setWidth sets a width such as 4x.
func setWidth(k *cabling.Kind, text string) error {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.ToLower(text), "x"))
	if err != nil || n < 0 || n > 12 || fabric.Width(n).String() == "??" {
		return fmt.Errorf("width %q, expected 1x, 2x, 4x, 8x or 12x", text)
	}
	k.Width = fabric.Width(n)
	return nil
}
