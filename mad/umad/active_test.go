// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"testing"

	"example.org/ibconsole/mad"
)

// TestActive takes the InfiniBand ports that are active and have a device, and no others.
func TestActive(t *testing.T) {
	port := func(ca string, link string, state mad.PortState, device string) Port {
		return Port{CA: ca, Number: 1, LinkLayer: link, State: state, Umad: device}
	}
	all := Active([]Port{
		port("mlx5_0", InfiniBand, mad.PortActive, "umad0"), port("mlx5_1", InfiniBand, mad.PortInit, "umad1"),
		port("mlx5_2", "Ethernet", mad.PortActive, "umad2"),
		port("mlx5_3", InfiniBand, mad.PortActive, ""), port("mlx5_4", InfiniBand, mad.PortActive, "umad4"),
		port("mlx5_5", InfiniBand, mad.PortDown, "umad5"),
	})
	if len(all) != 2 || all[0].CA != "mlx5_0" || all[1].CA != "mlx5_4" {
		t.Errorf("%+v", all)
	}
}
