// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"fmt"
	"path/filepath"
	"strings"
)

// card is a PCI device that could be an adapter.
type card struct{ slot, id, driver string }

// PCI's numbers of those who make adapters (pci.ids).
const (
	vendorMellanox = 0x15b3
	vendorIntel    = 0x8086

	// Classes, of which the highest 16 bits of 24 count.
	classNetworkEthernet   = 0x0200
	classNetworkInfiniBand = 0x0207
	classNetworkFabric     = 0x0208
	classSerialInfiniBand  = 0x0c06

	// mlx5's begin with Connect-IB and end before older ones (mlx5/core/main.c, mlx4/main.c)
	firstMLX5, behindMLX5 = 0x1011, 0x6000
)

// pciCards lists the adapters on PCI, whether or not a driver has them.
func pciCards(root string) []card {
	dir := filepath.Join(root, pciDevices)
	slots, _ := entries(dir) // a machine without PCI has none
	var cards []card
	for _, slot := range slots {
		a := attributes{dir: filepath.Join(dir, slot)}
		vendor, device := value(&a, "vendor", parseMask), value(&a, "device", parseMask)
		if driver := driverOf(vendor, device, value(&a, "class", parseMask)>>8); driver != "" {
			cards = append(cards, card{
				strings.TrimPrefix(slot, "0000:"), fmt.Sprintf("%04x:%04x", vendor, device), driver,
			})
		}
	}
	return cards
}

// driverOf names the module that drives an adapter, "" for what is none.
func driverOf(vendor, device, class uint32) string {
	switch class {
	case classNetworkEthernet, classNetworkInfiniBand, classSerialInfiniBand:
		switch {
		case vendor != vendorMellanox:
			return ""
		case device >= firstMLX5 && device < behindMLX5:
			return "mlx5_ib"
		}
		return "mlx4_ib"
	case classNetworkFabric:
		if vendor == vendorIntel {
			return "hfi1"
		}
	}
	return ""
}
