// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Check says what in a fabric or in options no engine can route with: an end
// port without a LID, an LMC above 7, existing tables of another fabric. O(ports).
func Check(f *fabric.Fabric, opt *Options) error {
	if opt.LMC > fabric.MaxLMC {
		return fmt.Errorf("LMC %d, expected 0 to %d", opt.LMC, fabric.MaxLMC)
	}
	if t := opt.Existing; t != nil && t.Switches() != len(f.Switches) {
		return fmt.Errorf("existing tables of %d switches, expected %d", t.Switches(), len(f.Switches))
	}
	for _, e := range f.EndPorts {
		if f.Ports[e].LID == 0 {
			return fmt.Errorf("%s has no LID", f.PortName(e))
		}
	}
	return nil
}
