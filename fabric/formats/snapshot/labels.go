// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// encodeLabels encodes the labels of ports. It returns nil if no port has one.
func encodeLabels(f *fabric.Fabric) []byte {
	e, n := &encoder{}, 0
	for port := range f.NumPorts() {
		if label := f.Label(port); label != "" {
			encodeIndex(e, port)
			e.string(label)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := &encoder{}
	out.uint(uint64(n))
	out.bytes(e.b)
	return out.b
}

// decodeLabels returns a fabric with the labels of its ports.
func decodeLabels(f *fabric.Fabric, d *decoder) (*fabric.Fabric, error) {
	labels := map[fabric.PortIndex]string{}
	for range d.uint(uint64(f.NumPorts())) {
		port := decodeIndex[fabric.PortIndex](d, int(f.NumPorts())+1)
		label := d.string()
		if d.err != nil {
			return f, fmt.Errorf("labels: %w", d.err)
		}
		if port != fabric.None {
			labels[port] = label
		}
	}
	return f.WithLabels(labels), d.err
}
