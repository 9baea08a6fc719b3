/// The words of written fixes, ready without a `String`.
extension FixQuality {
    var text: StaticString {
        switch self {
        case .gps: "gps"
        case .dgps: "dgps"
        case .pps: "pps"
        case .rtkFixed: "rtkFixed"
        case .rtkFloat: "rtkFloat"
        case .estimated: "estimated"
        case .manual: "manual"
        case .simulated: "simulated"
        }
    }
}

extension FixMode {
    var text: StaticString {
        switch self {
        case .twoDimensional: "2d"
        case .threeDimensional: "3d"
        }
    }
}
