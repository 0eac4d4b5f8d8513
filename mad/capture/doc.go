// SPDX-License-Identifier: Apache-2.0

// Package capture writes the MADs of a transport to a file for Wireshark's InfiniBand dissector.
//
// The file is a pcap file of ERF records. A transport carries MADs, not packets, so the headers around a MAD contain
// the values on the wire only as far as they are known. Directed routes go between permissive LIDs on VL 15. Other LIDs
// are those of the local port and the remote port. Queue pairs and Q_Keys are those of the class, and the P_Key is the
// default P_Key. The VL of general services, the packet sequence number and the CRCs are 0.
//
// A capture is meant to be shared, so keys that give access to the subnet are replaced by 0:
//
//   - the M_Key of subnet management packets, of PortInfo and PortInfoRecord, and of notices of a bad M_Key,
//   - the SM_Key of SMInfo, SMInfoRecord and all subnet administration packets,
//   - the keys of the board and congestion control classes at the place of the M_Key,
//   - the keys in [Options], wherever they are.
//
// Everything else is written unchanged, including vendor attributes and service records.
package capture
