// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
)

// hardwareDB has the sections about hardware with the column names that public readers of these files use. Firmware
// numbers are hexadecimal. TEMP_SENSING comes first and repeats the temperature of the switch.
const hardwareDB = `START_NODES
NodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,PortGUID,DeviceID,revision,VendorID
"leaf",2,2,0x41,0x41,0x41,54000,161,713
"host",1,1,0x11,0x11,0x111,4123,0,713
END_NODES
START_PORTS
NodeGuid,PortGuid,PortNum,LID,LMC,MSMLID,CapMsk,PortState,LinkWidthActv,LinkSpeedActv
0x41,0x41,1,0,0,1,0,4,2,1024
0x11,0x111,1,2,0,1,0,4,2,1024
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x41,1,0x11,1
END_LINKS
START_NODES_INFO
` + "NodeGUID,HWInfo_DeviceID,FWInfo_Major,FWInfo_Minor,FWInfo_SubMinor,FWInfo_PSID," +
	"FWInfo_Extended_Major,FWInfo_Extended_Minor,FWInfo_Extended_SubMinor,HWInfo_UpTime" + `
0x41,0xd2f0,0x1b,0xd8,0xe8,MT_0000000063,0x1b,0x7d8,0xe8,0x15180
0x11,0x20f,0x14,0x1f,0x3f6,"MT_0000000223",N/A,N/A,N/A,N/A
0x99,0x20f,0x14,0x1f,0x3f6,"MT_0000000223",N/A,N/A,N/A,N/A
END_NODES_INFO
START_TEMP_SENSING
NodeGUID,CurrentTemperature
0x41,55
0x11,48
END_TEMP_SENSING
START_SYSTEM_GENERAL_INFORMATION
NodeGuid,SerialNumber,PartNumber,Revision,ProductName
0x41,"MT2001X00001","MQM8700-HS2F","A2","Jaguar Unmng IB 200"
END_SYSTEM_GENERAL_INFORMATION
START_TEMPERATURE_SENSORS
NodeGuid,SensorIndex,Temperature,MaxTemperature
0x41,0,54,61
0x41,1,N/A,N/A
END_TEMPERATURE_SENSORS
START_FANS_SPEED
NodeGuid,SensorIndex,FanSpeed
0x41,1,5800
0x41,2,900
END_FANS_SPEED
START_FANS_THRESHOLDS
NodeGuid,SensorIndex,MinSpeed,MaxSpeed
0x41,1,4500,13500
0x41,2,4500,0
END_FANS_THRESHOLDS
START_POWER_SUPPLIES
NodeGuid,PSUIndex,IsPresent,DCState,AlertState,FanState,SerialNumber
0x41,1,Yes,OK,OK,OK,"S1"
0x41,2,Yes,Failure,N/A,OK,N/A
END_POWER_SUPPLIES
START_CABLE_INFO
` + "NodeGuid,PortNum,Vendor,PN,SN,Rev,LengthSMFiber,LengthCopperOrActive,Temperature," +
	"RX1Power,RX2Power,RX3Power,RX4Power,TX1Power,RXPowerLowThresh" + `
0x41,1,"Acme","MFS1","SN-1","A2",N/A,"20 m","42C",10000,"0.5 mW","0.25 mW, -6.0 dBm",0,"-1.5 dBm",631
END_CABLE_INFO
`

func readHardware(t *testing.T, text string) (*DB, error) {
	t.Helper()
	return ReadDB(t.Context(), strings.NewReader(text), "db", nil)
}

func TestReadHardware(t *testing.T) {
	const wrong = "db:19: node 0x0000000000000099"
	if _, err := readHardware(t, hardwareDB); err == nil || !strings.Contains(err.Error(), wrong) {
		t.Errorf("a row about an unknown node: %v", err)
	}
	text := strings.Replace(hardwareDB, "0x99,", "0x41,", 1) // a repeated row: the last one counts
	text = strings.Replace(text, "0x41,0x20f,0x14,0x1f,0x3f6,\"MT_0000000223\",N/A,N/A,N/A,N/A\n", "", 1)
	db, err := readHardware(t, text)
	if err != nil {
		t.Fatal(err)
	}
	leaf, host := db.Fabric.NodeByGUID(0x41), db.Fabric.NodeByGUID(0x11)
	level := health.LevelOf
	want := health.Node{
		Firmware: "27.2008.0232", PSID: "MT_0000000063", Serial: "MT2001X00001", Part: "MQM8700-HS2F", Revision: "A2",
		Product: "Jaguar Unmng IB 200", Uptime: level(86400),
		Sensors: []health.Sensor{{Celsius: level(54), Highest: level(61)}, {Index: 1}},
		Fans: []health.Fan{
			{Index: 1, RPM: level(5800), Min: level(4500), Max: level(13500)},
			{Index: 2, RPM: level(900), Min: level(4500)},
		},
		Supplies: []health.Supply{
			{Index: 1, Present: "Yes", DC: "OK", Alert: "OK", Fan: "OK", Serial: "S1"},
			{Index: 2, Present: "Yes", DC: "Failure", Fan: "OK"},
		},
	}
	if got := db.Health.NodeAt(leaf); !reflect.DeepEqual(*got, want) {
		t.Errorf("switch: %+v, expected %+v", *got, want)
	}
	want = health.Node{Firmware: "20.31.1014", PSID: "MT_0000000223", Sensors: []health.Sensor{{Celsius: level(48)}}}
	if got := db.Health.NodeAt(host); !reflect.DeepEqual(*got, want) {
		t.Errorf("host: %+v, expected %+v", *got, want)
	}
	c := db.Health.At(db.Fabric.Port(leaf, 1)).Cable
	if c.Length != "20 m" || c.Celsius != 42 {
		t.Errorf("cable %+v", c)
	}
	// 10,000 tenths of microwatts are 1 mW, or 0 dBm. 0.5 mW are -3.01 dBm. 631 tenths of microwatts are -12 dBm.
	for i, want := range []float64{0, -3.0103, -6} {
		if got := c.Rx[i]; !got.Known || math.Abs(got.Value-want) > 1e-3 {
			t.Errorf("received power of lane %d: %+v, expected %g dBm", i+1, got, want)
		}
	}
	if c.Rx[3].Known || c.Rx[4].Known || c.Tx[0] != level(-1.5) || math.Abs(c.RxLow.Value+12) > 1e-2 || c.TxLow.Known {
		t.Errorf("powers %+v", c.Optics)
	}
	if w := c.Weakest(); w != level(-6) {
		t.Errorf("weakest %v, expected -6", w)
	}
	var out bytes.Buffer
	if err := WriteDB(&out, db, nil); err != nil {
		t.Fatal(err)
	}
	again, err := readHardware(t, out.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []fabric.NodeIndex{leaf, host} {
		if got, want := again.Health.NodeAt(n), db.Health.NodeAt(n); !reflect.DeepEqual(got, want) {
			t.Errorf("written and read again: %+v, expected %+v", got, want)
		}
	}
	got := again.Health.At(again.Fabric.Port(leaf, 1)).Cable
	if got.Length != c.Length || math.Abs(got.RxLow.Value-c.RxLow.Value) > 1e-9 {
		t.Errorf("written and read again: %+v, expected %+v", got, c)
	}
}
