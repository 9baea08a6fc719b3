/// The page at `/`.
enum SimulatorPage {
    static let html = "<!doctype html><title>Simulator</title>"
}
